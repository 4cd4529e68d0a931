// The server over real sockets: draining, stopping and destruction.
#include <atomic>
#include <future>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>

#include "api/http/http_server.h"
#include "api/http/http_server_fixture.h"

namespace postrider::api {
namespace {

using namespace std::chrono_literals;
using test::echo;
using test::eventually;
using test::long_timeouts;
using test::RawClient;
using test::RawResponse;
using test::simple_get;
using test::TestServer;

/// A handler that responds when the test cancels its timer.
struct PausedHandler {
  boost::asio::awaitable<HttpResponse> handle(HttpRequest) {
    boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
    timer.expires_after(60s);
    waiting = &timer;
    auto pause = timer.async_wait(boost::asio::as_tuple(boost::asio::deferred));
    co_await std::move(pause);
    co_return HttpResponse{};
  }
  std::atomic<boost::asio::steady_timer*> waiting = nullptr;
};

TEST(HttpServer, DrainFinishesRequestsInProgressAndClosesIdleConnections) {
  PausedHandler handler;
  TestServer server{[&](HttpRequest request) { return handler.handle(std::move(request)); },
                    long_timeouts()};
  const auto busy = server.connect();
  const auto idle = server.connect();
  ASSERT_TRUE(busy->send(simple_get));
  ASSERT_TRUE(eventually([&] { return handler.waiting != nullptr; }));
  ASSERT_TRUE(eventually([&] { return server.counters().connections_open == 2; }));

  std::promise<void> stopped;
  std::future<void> done = stopped.get_future();
  server.call([&] { server.server().drain([&] { stopped.set_value(); }); });
  EXPECT_EQ(idle->read_to_end(), "");
  EXPECT_EQ(done.wait_for(50ms), std::future_status::timeout);
  EXPECT_ANY_THROW(RawClient{server.endpoint()});

  server.call([&] { handler.waiting.load()->cancel(); });
  const RawResponse response = busy->read_response();
  EXPECT_EQ(response.status(), 200);
  EXPECT_TRUE(response.has("Connection: close"));
  busy->close();
  EXPECT_EQ(done.wait_for(10s), std::future_status::ready);
}

TEST(HttpServer, DrainOfAnEmptyServerIsImmediate) {
  TestServer server{echo, long_timeouts()};
  std::promise<void> stopped;
  std::future<void> done = stopped.get_future();
  server.call([&] { server.server().drain([&] { stopped.set_value(); }); });
  EXPECT_EQ(done.wait_for(10s), std::future_status::ready);
}

TEST(HttpServer, StopClosesAllConnectionsImmediately) {
  PausedHandler handler;
  TestServer server{[&](HttpRequest request) { return handler.handle(std::move(request)); },
                    long_timeouts()};
  const auto busy = server.connect();
  const auto half = server.connect();
  ASSERT_TRUE(busy->send(simple_get));
  ASSERT_TRUE(half->send("GET / HT"));
  ASSERT_TRUE(eventually([&] { return handler.waiting != nullptr; }));
  server.call([&] { server.server().stop(); });
  EXPECT_EQ(busy->read_to_end(), "");
  EXPECT_EQ(half->read_to_end(), "");
  server.call([&] { handler.waiting.load()->cancel(); });
  EXPECT_TRUE(eventually([&] { return server.counters().connections_open == 0; }));
}

TEST(HttpServer, CanBeDestroyedWithOpenConnectionsWhileItsLoopIsStopped) {
  boost::asio::io_context io{1};
  auto server = listen(io, "127.0.0.1:0", echo, long_timeouts());
  ASSERT_TRUE(server.has_value());
  RawClient client{(*server)->local_endpoint()};
  ASSERT_TRUE(client.send("GET / HT"));
  io.run_for(20ms);
  EXPECT_EQ((*server)->counters().connections_open, 1u);
  server->reset();
  EXPECT_EQ(client.read_to_end(), "");
}

}  // namespace
}  // namespace postrider::api
