// The server over real sockets: how it drains, stops and ends.
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
using test::patient;
using test::RawClient;
using test::RawResponse;
using test::simple_get;
using test::TestServer;

/// A handler that answers when it is told to.
struct Gate {
  boost::asio::awaitable<HttpResponse> wait(HttpRequest) {
    boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
    timer.expires_after(60s);
    waiting = &timer;
    auto opening = timer.async_wait(boost::asio::as_tuple(boost::asio::deferred));
    co_await std::move(opening);
    co_return HttpResponse{};
  }
  std::atomic<boost::asio::steady_timer*> waiting = nullptr;
};

TEST(HttpServer, DrainFinishesWhatIsUnderWayAndClosesWhatIsIdle) {
  Gate gate;
  TestServer server{[&](HttpRequest request) { return gate.wait(std::move(request)); }, patient()};
  const auto busy = server.connect();
  const auto idle = server.connect();
  ASSERT_TRUE(busy->send(simple_get));
  ASSERT_TRUE(eventually([&] { return gate.waiting != nullptr; }));
  ASSERT_TRUE(eventually([&] { return server.counters().connections_open == 2; }));

  std::promise<void> stopped;
  std::future<void> done = stopped.get_future();
  server.call([&] { server.server().drain([&] { stopped.set_value(); }); });
  EXPECT_EQ(idle->read_to_end(), "");
  EXPECT_EQ(done.wait_for(50ms), std::future_status::timeout);
  EXPECT_ANY_THROW(RawClient{server.endpoint()});

  server.call([&] { gate.waiting.load()->cancel(); });
  const RawResponse response = busy->read_response();
  EXPECT_EQ(response.status(), 200);
  EXPECT_TRUE(response.has("Connection: close"));
  busy->close();
  EXPECT_EQ(done.wait_for(10s), std::future_status::ready);
}

TEST(HttpServer, DrainOfAnEmptyServerIsImmediate) {
  TestServer server{echo, patient()};
  std::promise<void> stopped;
  std::future<void> done = stopped.get_future();
  server.call([&] { server.server().drain([&] { stopped.set_value(); }); });
  EXPECT_EQ(done.wait_for(10s), std::future_status::ready);
}

TEST(HttpServer, StopClosesEverythingAtOnce) {
  Gate gate;
  TestServer server{[&](HttpRequest request) { return gate.wait(std::move(request)); }, patient()};
  const auto busy = server.connect();
  const auto half = server.connect();
  ASSERT_TRUE(busy->send(simple_get));
  ASSERT_TRUE(half->send("GET / HT"));
  ASSERT_TRUE(eventually([&] { return gate.waiting != nullptr; }));
  server.call([&] { server.server().stop(); });
  EXPECT_EQ(busy->read_to_end(), "");
  EXPECT_EQ(half->read_to_end(), "");
  server.call([&] { gate.waiting.load()->cancel(); });
  EXPECT_TRUE(eventually([&] { return server.counters().connections_open == 0; }));
}

TEST(HttpServer, MayBeDestroyedWithConnectionsOpenAndItsLoopStopped) {
  boost::asio::io_context io{1};
  auto server = listen(io, "127.0.0.1:0", echo, patient());
  ASSERT_TRUE(server.has_value());
  RawClient client{(*server)->local_endpoint()};
  client.send("GET / HT");
  io.run_for(20ms);
  EXPECT_EQ((*server)->counters().connections_open, 1u);
  server->reset();
}

}  // namespace
}  // namespace postrider::api
