// Bodies that come in pieces, over real sockets.
#include "api/http/http_stream.h"

#include <chrono>
#include <deque>

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

/// What the test holds of a stream. Everything happens on the server's thread.
struct Tap {
  std::deque<std::string> pieces;  // An empty one ends it.
  std::unique_ptr<asio::steady_timer> timer;
  bool stopped = false;
  bool gone = false;

  void put(std::string piece) {
    pieces.push_back(std::move(piece));
    timer->cancel();
  }
};

class TapStream final : public BodyStream {
 public:
  explicit TapStream(Tap& tap) : tap_(tap) {}
  ~TapStream() override {
    tap_.gone = true;
    tap_.timer.reset();  // Before the loop it belongs to goes.
  }
  TapStream(const TapStream&) = delete;
  TapStream& operator=(const TapStream&) = delete;

  asio::awaitable<std::string> next() override {
    while (tap_.pieces.empty()) {
      if (tap_.stopped) {
        co_return said_goodbye_++ == 0 ? "bye" : "";
      }
      tap_.timer->expires_after(hours{1});
      auto waiting = tap_.timer->async_wait(asio::as_tuple(asio::deferred));
      co_await std::move(waiting);
    }
    std::string piece = std::move(tap_.pieces.front());
    tap_.pieces.pop_front();
    co_return piece;
  }

  void stop() override {
    tap_.stopped = true;
    tap_.timer->cancel();
  }

 private:
  Tap& tap_;
  int said_goodbye_ = 0;
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
    tap_.timer = std::make_unique<asio::steady_timer>(executor);
    HttpResponse response;
    response.content_type = "text/event-stream";
    response.stream = std::make_shared<TapStream>(tap_);
    co_return response;
  }

  void put(std::string piece) {
    server_.call([&] { tap_.put(std::move(piece)); });
  }

  bool is_gone() {
    bool gone = false;
    server_.call([&] { gone = tap_.gone; });
    return gone;
  }

  Tap tap_;
  TestServer server_{[this](HttpRequest request) { return answer(std::move(request)); }, options()};
};

TEST(FramePiece, IsAChunkOrNothingButItself) {
  EXPECT_EQ(frame_piece("hello", true), "5\r\nhello\r\n");
  EXPECT_EQ(frame_piece(std::string(300, 'x'), true).substr(0, 5), "12c\r\n");
  EXPECT_EQ(frame_piece("", true), "0\r\n\r\n");
  EXPECT_EQ(frame_piece("hello", false), "hello");
  EXPECT_EQ(frame_piece("", false), "");
}

TEST_F(HttpStreamTest, PiecesAreChunksAndTheConnectionGoesOnAfterwards) {
  const auto client = server_.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  const RawResponse response = client->read_response();
  EXPECT_EQ(response.status(), 200);
  EXPECT_TRUE(response.has("Transfer-Encoding: chunked"));
  EXPECT_EQ(response.head.find("Content-Length"), std::string::npos);
  put("one");
  put("two");
  put("");
  ASSERT_TRUE(eventually([this] { return is_gone(); }));
  ASSERT_TRUE(client->send("GET /plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  const std::string rest = client->read_to_end();
  EXPECT_TRUE(rest.starts_with("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\nHTTP/1.1 200")) << rest;
}

TEST_F(HttpStreamTest, AnOldClientGetsTheBytesUntilTheConnectionEnds) {
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

TEST_F(HttpStreamTest, HeadHasNoBody) {
  const auto client = server_.connect();
  ASSERT_TRUE(
      client->send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n"
                   "GET /plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  EXPECT_EQ(client->read_response(true).status(), 200);
  EXPECT_EQ(client->read_response().status(), 200);
  EXPECT_TRUE(is_gone());
}

TEST_F(HttpStreamTest, AClientThatHangsUpIsNoticedWithoutWriting) {
  const auto client = server_.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client->read_response().status(), 200);
  client->close();
  EXPECT_TRUE(eventually([this] { return is_gone(); }));
  EXPECT_TRUE(eventually([this] { return server_.counters().connections_open == 0; }));
}

TEST_F(HttpStreamTest, DrainingLetsAStreamSayItsLastWords) {
  const auto client = server_.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client->read_response().status(), 200);
  std::promise<void> drained;
  server_.call([&] { server_.server().drain([&] { drained.set_value(); }); });
  EXPECT_EQ(client->read_to_end(), "3\r\nbye\r\n0\r\n\r\n");
  client->close();
  drained.get_future().wait();
}

TEST_F(HttpStreamTest, StoppingEndsAStreamAtOnce) {
  const auto client = server_.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client->read_response().status(), 200);
  server_.call([&] { server_.server().stop(); });
  EXPECT_TRUE(eventually([this] { return is_gone(); }));
}

TEST_F(HttpStreamTest, AClientThatDoesNotReadIsLetGo) {
  HttpServerOptions hasty = options();
  hasty.write_timeout = milliseconds{200};
  Tap tap;
  TestServer server{[&](HttpRequest) -> asio::awaitable<HttpResponse> {
                      const asio::any_io_executor executor = co_await asio::this_coro::executor;
                      tap.timer = std::make_unique<asio::steady_timer>(executor);
                      HttpResponse response;
                      response.stream = std::make_shared<TapStream>(tap);
                      co_return response;
                    },
                    hasty};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client->read_response().status(), 200);
  server.call([&] { tap.put(std::string(64u << 20, 'x')); });
  EXPECT_TRUE(eventually([&] { return server.counters().connections_open == 0; }));
  EXPECT_EQ(server.counters().timeouts, 1u);
}

}  // namespace
}  // namespace postrider::api::test
