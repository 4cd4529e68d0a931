// What the observer is told about requests, over real sockets.
#include "api/http/request_observer.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/http/http_server_fixture.h"

namespace postrider::api::test {
namespace {

namespace asio = boost::asio;

/// Keeps a line of text for each request.
class KeptRequests final : public RequestObserver {
 public:
  [[nodiscard]] bool is_active() const override { return active; }

  void request_done(const RequestRecord& record) override {
    const RequestNote& note = record.note;
    std::string line = fmt::format(
        "{} {} route={} {} in={} out={} {}us from {} key={} tenant={}{}{}", record.request_id,
        record.method, note.route, record.status, record.request_bytes, record.response_bytes,
        record.duration.count(), record.remote_ip, note.key_id ? note.key_id->to_string() : "none",
        note.tenant_id, note.is_routine ? " routine" : "", record.is_cut ? " cut" : "");
    const std::lock_guard lock{mutex_};
    lines_.push_back(std::move(line));
  }

  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock{mutex_};
    return lines_;
  }

  std::atomic<bool> active = true;

 private:
  mutable std::mutex mutex_;  // Guards lines_.
  std::vector<std::string> lines_;
};

class TwoPieces final : public BodyStream {
 public:
  asio::awaitable<std::string> next() override {
    co_return ++pieces_ > 2 ? std::string{} : std::string{"12345"};
  }
  void stop() override {}

 private:
  int pieces_ = 0;
};

asio::awaitable<HttpResponse> respond(HttpResponse response) { co_return response; }

/// Fills in the note as the API's handlers do.
asio::awaitable<HttpResponse> noting_handler(HttpRequest request) {
  if (request.note != nullptr) {
    request.note->route = "/{name}";
    request.note->is_routine = request.path == "/healthz";
    request.note->key_id = KeyId{};
    request.note->tenant_id = request.header("x-tenant").value_or("");
  }
  HttpResponse response;
  response.body = request.path;
  if (request.path == "/stream") {
    response.stream = std::make_shared<TwoPieces>();
  }
  if (request.path == "/fails") {
    throw std::runtime_error{"failed"};
  }
  return respond(std::move(response));
}

class RequestObserverTest : public testing::Test {
 protected:
  HttpServerOptions options() {
    HttpServerOptions options = long_timeouts();
    options.observer = requests_;
    // Each reading is a millisecond after the one before.
    options.now = [this] { return Moment{WallTime{}, MonoTime{Micros{1'000} * ++readings_}}; };
    return options;
  }

  /// The lines, once there are `count`.
  std::vector<std::string> lines(std::size_t count) {
    EXPECT_TRUE(eventually([&] { return requests_->lines().size() >= count; }));
    return requests_->lines();
  }

  std::shared_ptr<KeptRequests> requests_ = std::make_shared<KeptRequests>();
  std::atomic<int> readings_ = 0;
};

std::string get(const std::string& path, const std::string& headers = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: h\r\nX-Request-Id: r1\r\n" + headers + "\r\n";
}

constexpr const char* no_key = "key=key_00000000000000000000000000";

TEST_F(RequestObserverTest, IsToldOncePerRequest) {
  TestServer server{noting_handler, options()};
  const auto client = server.connect();
  client->send(get("/a", "X-Tenant: acme\r\n"));
  (void)client->read_response();
  const std::string first = fmt::format(
      "r1 GET route=/{{name}} 200 in=0 out=2 1000us from 127.0.0.1 {} tenant=acme", no_key);
  EXPECT_EQ(lines(1), std::vector{first});
  client->send(post("123456", "X-Request-Id: r2\r\n"));
  (void)client->read_response();
  // Nothing is left over from the request before.
  EXPECT_EQ(lines(2).back(),
            fmt::format("r2 POST route=/{{name}} 200 in=6 out=2 1000us from 127.0.0.1 {} tenant=",
                        no_key));
  EXPECT_EQ(requests_->lines().size(), 2u);
}

TEST_F(RequestObserverTest, IsToldAboutRequestsThatNoHandlerSaw) {
  TestServer server{noting_handler, options()};
  const auto client = server.connect();
  client->send("GET / HTTP/1.1\r\nX-Request-Id: r1\r\n\r\n");  // Without Host.
  const RawResponse response = client->read_response();
  EXPECT_EQ(lines(1), std::vector{fmt::format("r1 GET route= 400 in=0 out={} 1000us from 127.0.0.1 "
                                              "key=none tenant=",
                                              response.body.size())});
}

TEST_F(RequestObserverTest, KnowsWhoWasRefusedByTheHead) {
  HttpServerOptions http = options();
  http.check_head = [](const HttpRequest& head) -> tl::expected<BodyPermit, Problem> {
    head.note->route = "/p";
    head.note->key_id = KeyId{};
    return tl::make_unexpected(Problem{403, "no", "No", "No.", {}});
  };
  TestServer server{noting_handler, http};
  const auto client = server.connect();
  client->send("POST /p HTTP/1.1\r\nHost: h\r\nX-Request-Id: r1\r\nContent-Length: 9\r\n\r\n123");
  const RawResponse response = client->read_response();
  EXPECT_EQ(lines(1), std::vector{fmt::format("r1 POST route=/p 403 in=3 out={} 1000us from "
                                              "127.0.0.1 {} tenant=",
                                              response.body.size(), no_key)});
}

TEST_F(RequestObserverTest, CountsThePiecesOfAStreamAndNoBodyOfHead) {
  TestServer server{noting_handler, options()};
  const auto client = server.connect();
  client->send(get("/stream", "Connection: close\r\n"));
  (void)client->read_to_end();
  EXPECT_NE(lines(1).back().find(" out=10 "), std::string::npos) << lines(1).back();
  const auto other = server.connect();
  other->send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
  (void)other->read_response(true);
  EXPECT_NE(lines(2).back().find("HEAD route=/{name} 200 in=0 out=0 "), std::string::npos);
}

TEST_F(RequestObserverTest, IsToldAboutFailedHandlers) {
  TestServer server{noting_handler, options()};
  const auto client = server.connect();
  client->send(get("/fails"));
  (void)client->read_response();
  EXPECT_NE(lines(1).back().find("route=/{name} 500 "), std::string::npos) << lines(1).back();
}

TEST_F(RequestObserverTest, IsToldThatAResponseWasCut) {
  Handler large = [](HttpRequest) {
    HttpResponse response;
    response.body = std::string(64ul * 1024 * 1024, 'x');  // More than the socket buffers hold.
    return respond(std::move(response));
  };
  TestServer server{large, options()};
  const auto client = server.connect();
  client->send(simple_get);
  ASSERT_TRUE(eventually([&] { return server.counters().requests_handled == 1; }));
  client->close();
  EXPECT_TRUE(lines(1).back().ends_with(" cut")) << lines(1).back();
}

TEST_F(RequestObserverTest, CostsNoClockReadingIfItIsNotActive) {
  requests_->active = false;
  TestServer server{noting_handler, options()};
  const auto client = server.connect();
  client->send(get("/a"));
  (void)client->read_response();
  const int readings = readings_;
  for (int i = 0; i < 10; ++i) {
    client->send(get("/a"));
    (void)client->read_response();
  }
  // Only the ticks, which refresh the Date header, read it: far fewer than two per request.
  EXPECT_LT(readings_ - readings, 10);
  EXPECT_TRUE(requests_->lines().empty());
}

}  // namespace
}  // namespace postrider::api::test
