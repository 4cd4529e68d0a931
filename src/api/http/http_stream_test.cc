// Streamed response bodies, over real sockets.
#include "api/http/http_stream.h"

#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>

#include "api/http/http_server_fixture.h"

namespace postrider::api::test {
namespace {

namespace asio = boost::asio;
using std::chrono::hours;
using std::chrono::milliseconds;

/// Controls a ControlledStream from the test. Server thread only.
struct StreamControl {
  std::deque<std::string> pieces;  // An empty piece ends the body.
  std::unique_ptr<asio::steady_timer> timer;
  bool stopped = false;
  bool destroyed = false;

  void put(std::string piece) {
    pieces.push_back(std::move(piece));
    timer->cancel();
  }
};

class ControlledStream final : public BodyStream {
 public:
  explicit ControlledStream(StreamControl& control) : control_(control) {}
  ~ControlledStream() override {
    control_.destroyed = true;
    control_.timer.reset();  // Its event loop is destroyed before the control.
  }
  ControlledStream(const ControlledStream&) = delete;
  ControlledStream& operator=(const ControlledStream&) = delete;

  asio::awaitable<std::string> next() override {
    while (control_.pieces.empty()) {
      if (control_.stopped) {
        co_return std::exchange(last_piece_returned_, true) ? "" : "last";
      }
      control_.timer->expires_after(hours{1});
      auto waiting = control_.timer->async_wait(asio::as_tuple(asio::deferred));
      co_await std::move(waiting);
    }
    std::string piece = std::move(control_.pieces.front());
    control_.pieces.pop_front();
    co_return piece;
  }

  void stop() override {
    control_.stopped = true;
    control_.timer->cancel();
  }

 private:
  StreamControl& control_;
  bool last_piece_returned_ = false;
};

class HttpStreamTest : public testing::Test {
 protected:
  static HttpServerOptions options() {
    HttpServerOptions options;
    options.header_timeout = milliseconds{400};  // Ticks of 100 ms.
    return options;
  }

  asio::awaitable<HttpResponse> answer(HttpRequest request) {
    if (request.path == "/plain") {
      auto pending = echo(std::move(request));
      co_return co_await std::move(pending);
    }
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    control_.timer = std::make_unique<asio::steady_timer>(executor);
    HttpResponse response;
    response.content_type = "text/event-stream";
    response.stream = std::make_shared<ControlledStream>(control_);
    co_return response;
  }

  void put(std::string piece) {
    server_.call([&] { control_.put(std::move(piece)); });
  }

  bool stream_is_destroyed() {
    bool destroyed = false;
    server_.call([&] { destroyed = control_.destroyed; });
    return destroyed;
  }

  StreamControl control_;
  TestServer server_{[this](HttpRequest request) { return answer(std::move(request)); }, options()};
};

TEST(FramePiece, AddsAChunkSizeOnlyIfChunked) {
  EXPECT_EQ(frame_piece("hello", true), "5\r\nhello\r\n");
  EXPECT_EQ(frame_piece(std::string(300, 'x'), true).substr(0, 5), "12c\r\n");
  EXPECT_EQ(frame_piece("", true), "0\r\n\r\n");
  EXPECT_EQ(frame_piece("hello", false), "hello");
  EXPECT_EQ(frame_piece("", false), "");
}

TEST_F(HttpStreamTest, SendsPiecesAsChunksAndKeepsTheConnectionOpen) {
  const auto client = server_.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  const RawResponse response = client->read_response();
  EXPECT_EQ(response.status(), 200);
  EXPECT_TRUE(response.has("Transfer-Encoding: chunked"));
  EXPECT_EQ(response.head.find("Content-Length"), std::string::npos);
  put("one");
  put("two");
  put("");
  ASSERT_TRUE(eventually([this] { return stream_is_destroyed(); }));
  ASSERT_TRUE(client->send("GET /plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  const std::string rest = client->read_to_end();
  EXPECT_TRUE(rest.starts_with("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\nHTTP/1.1 200")) << rest;
}

TEST_F(HttpStreamTest, Http10ClientsGetTheBodyWithoutChunksUntilTheConnectionCloses) {
  const auto client = server_.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
  const RawResponse response = client->read_response();
  EXPECT_TRUE(response.has("Connection: close"));
  EXPECT_EQ(response.head.find("Transfer-Encoding"), std::string::npos);
  put("one");
  put("two");
  put("");
  EXPECT_EQ(client->read_to_end(), "onetwo");
}

TEST_F(HttpStreamTest, HeadGetsNoBody) {
  const auto client = server_.connect();
  ASSERT_TRUE(
      client->send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n"
                   "GET /plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  EXPECT_EQ(client->read_response(true).status(), 200);
  EXPECT_EQ(client->read_response().status(), 200);
  EXPECT_TRUE(stream_is_destroyed());
}

TEST_F(HttpStreamTest, DetectsADisconnectedClientWithoutWriting) {
  const auto client = server_.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client->read_response().status(), 200);
  client->close();
  EXPECT_TRUE(eventually([this] { return stream_is_destroyed(); }));
  EXPECT_TRUE(eventually([this] { return server_.counters().connections_open == 0; }));
}

TEST_F(HttpStreamTest, DrainingSendsTheLastPieceOfAStream) {
  const auto client = server_.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client->read_response().status(), 200);
  std::promise<void> drained;
  std::future<void> done = drained.get_future();
  server_.call([&] { server_.server().drain([&] { drained.set_value(); }); });
  EXPECT_EQ(client->read_to_end(), "4\r\nlast\r\n0\r\n\r\n");
  client->close();
  EXPECT_EQ(done.wait_for(std::chrono::seconds{10}), std::future_status::ready);
}

TEST_F(HttpStreamTest, StoppingEndsAStreamImmediately) {
  const auto client = server_.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client->read_response().status(), 200);
  server_.call([&] { server_.server().stop(); });
  EXPECT_EQ(client->read_to_end(), "");
  EXPECT_TRUE(eventually([this] { return stream_is_destroyed(); }));
}

TEST_F(HttpStreamTest, ClosesAConnectionWhoseClientDoesNotRead) {
  HttpServerOptions short_timeout = options();
  short_timeout.write_timeout = milliseconds{200};
  StreamControl control;
  TestServer server{[&](HttpRequest) -> asio::awaitable<HttpResponse> {
                      const asio::any_io_executor executor = co_await asio::this_coro::executor;
                      control.timer = std::make_unique<asio::steady_timer>(executor);
                      HttpResponse response;
                      response.stream = std::make_shared<ControlledStream>(control);
                      co_return response;
                    },
                    short_timeout};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client->read_response().status(), 200);
  server.call([&] { control.put(std::string(64u << 20, 'x')); });
  EXPECT_TRUE(eventually([&] { return server.counters().connections_open == 0; }));
  EXPECT_EQ(server.counters().timeouts, 1u);
}

}  // namespace
}  // namespace postrider::api::test
