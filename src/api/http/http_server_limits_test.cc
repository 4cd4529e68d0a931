// The server over real sockets: refusals, deadlines and limits.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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
using test::post;
using test::RawResponse;
using test::simple_get;
using test::TestServer;

TEST(HttpServer, RefusesAMalformedRequestWithAReasonAndCloses) {
  TestServer server{echo, long_timeouts()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n" + simple_get));
  const RawResponse response = client->read_response();
  EXPECT_EQ(response.status(), 400);
  EXPECT_TRUE(response.has("Content-Type: application/problem+json"));
  EXPECT_TRUE(response.has("Connection: close"));
  client->finish_sending();
  EXPECT_EQ(client->read_to_end(), "");  // The request after it gets no response.
  EXPECT_EQ(server.counters().requests_refused, 1u);
  EXPECT_EQ(server.counters().requests_handled, 0u);
}

TEST(HttpServer, TheRefusalAfterAHeadRequestHasABody) {
  TestServer server{echo, long_timeouts()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_EQ(client->read_response(true).status(), 200);
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nX-Long: " + std::string(20'000, 'v')));
  const RawResponse response = client->read_response();
  EXPECT_EQ(response.status(), 431);
  EXPECT_NE(response.body.find("header_too_large"), std::string::npos);
}

TEST(HttpServer, AClientThatSendsTooMuchCanStillReadTheResponse) {
  HttpServerOptions options = long_timeouts();
  options.body_bytes_max = 1000;
  TestServer server{echo, options};
  const auto client = server.connect();
  // Far more than socket buffers hold: the client would block if the server did not read it.
  client->send(post(std::string(20'000'000, 'x')));
  const RawResponse response = client->read_response();
  EXPECT_EQ(response.status(), 413);
  EXPECT_NE(response.body.find("1000 bytes"), std::string::npos);
}

TEST(HttpServer, SendsContinueToAClientThatExpectsIt) {
  TestServer server{echo, long_timeouts()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(
      "POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"));
  EXPECT_EQ(client->read_response().head, "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client->send("abc"));
  EXPECT_EQ(client->read_response().body, "POST /p abc");
}

TEST(HttpServer, SendsNoContinueForARequestItRefuses) {
  HttpServerOptions options = long_timeouts();
  options.body_bytes_max = 2;
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(
      "POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"));
  EXPECT_EQ(client->read_response().status(), 413);
}

TEST(HttpServer, ASlowHeaderGets408) {
  HttpServerOptions options = long_timeouts();
  options.header_timeout = 40ms;
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost"));
  const RawResponse response = client->read_response();
  EXPECT_EQ(response.status(), 408);
  EXPECT_TRUE(response.has("Connection: close"));
  EXPECT_EQ(server.counters().timeouts, 1u);
}

TEST(HttpServer, SendingByteByByteDoesNotExtendTheDeadline) {
  HttpServerOptions options = long_timeouts();
  options.header_timeout = 100ms;
  TestServer server{echo, options};
  const auto client = server.connect();
  std::atomic<bool> responded = false;
  std::thread sender{[&] {
    client->send("GET / HTTP/1.1\r\n");
    while (!responded && client->send("A: b\r\n")) {
      std::this_thread::sleep_for(5ms);
    }
  }};
  EXPECT_EQ(client->read_response().status(), 408);
  responded = true;
  sender.join();
}

TEST(HttpServer, ASlowBodyGets408) {
  HttpServerOptions options = long_timeouts();
  options.body_timeout = 40ms;
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabc"));
  EXPECT_EQ(client->read_response().status(), 408);
}

TEST(HttpServer, ClosesAnIdleConnectionWithoutAResponse) {
  HttpServerOptions options = long_timeouts();
  options.idle_timeout = 40ms;
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(simple_get));
  EXPECT_EQ(client->read_response().status(), 200);
  EXPECT_EQ(client->read_to_end(), "");
  EXPECT_EQ(server.counters().timeouts, 0u);
}

TEST(HttpServer, ClosesAConnectionThatSendsNothingWithoutAResponse) {
  HttpServerOptions options = long_timeouts();
  options.header_timeout = 40ms;
  TestServer server{echo, options};
  EXPECT_EQ(server.connect()->read_to_end(), "");
}

TEST(HttpServer, ClosesAConnectionWhoseClientDoesNotReadTheResponse) {
  HttpServerOptions options = long_timeouts();
  options.write_timeout = 40ms;
  const std::string large(30'000'000, 'x');
  const auto handler = [&large](HttpRequest) -> boost::asio::awaitable<HttpResponse> {
    HttpResponse response;
    response.body = large;
    co_return response;
  };
  TestServer server{handler, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(simple_get));
  EXPECT_TRUE(eventually([&] { return server.counters().timeouts == 1; }));
  EXPECT_TRUE(eventually([&] { return server.counters().connections_open == 0; }));
}

TEST(HttpServer, AHandlerMayTakeLongerThanAnyDeadline) {
  HttpServerOptions options;
  options.header_timeout = options.body_timeout = options.write_timeout = 20ms;
  options.idle_timeout = 20ms;
  const auto handler = [](HttpRequest) -> boost::asio::awaitable<HttpResponse> {
    boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
    timer.expires_after(200ms);
    auto waiting = timer.async_wait(boost::asio::as_tuple(boost::asio::deferred));
    co_await std::move(waiting);
    co_return HttpResponse{};
  };
  TestServer server{handler, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(simple_get));
  EXPECT_EQ(client->read_response().status(), 200);
}

TEST(HttpServer, RejectsConnectionsOverTheLimit) {
  HttpServerOptions options = long_timeouts();
  options.connections_max = 2;
  TestServer server{echo, options};
  const auto first = server.connect();
  const auto second = server.connect();
  ASSERT_TRUE(first->send(simple_get));
  ASSERT_TRUE(second->send(simple_get));
  EXPECT_EQ(first->read_response().status(), 200);
  EXPECT_EQ(second->read_response().status(), 200);

  const auto third = server.connect();
  third->send(simple_get);
  const RawResponse response = third->read_response();
  EXPECT_EQ(response.status(), 503);
  EXPECT_TRUE(response.has("Retry-After: 1"));
  EXPECT_EQ(server.counters().connections_refused, 1u);

  first->close();
  third->close();
  ASSERT_TRUE(eventually([&] { return server.counters().connections_open == 1; }));
  const auto fourth = server.connect();
  ASSERT_TRUE(fourth->send(simple_get));
  EXPECT_EQ(fourth->read_response().status(), 200);
}

TEST(HttpServer, ChangedLimitsApplyToNewConnections) {
  TestServer server{echo, long_timeouts()};
  const auto before = server.connect();
  ASSERT_TRUE(before->send(simple_get));
  ASSERT_EQ(before->read_response().status(), 200);
  HttpServerOptions options = long_timeouts();
  options.body_bytes_max = 10;
  server.call([&] { server.server().change(options); });
  const auto after = server.connect();
  ASSERT_TRUE(after->send(post(std::string(11, 'x'))));
  EXPECT_EQ(after->read_response().status(), 413);
  ASSERT_TRUE(before->send(post(std::string(11, 'x'))));
  EXPECT_EQ(before->read_response().status(), 200);
}

TEST(HttpServer, LimitsTheConnectionsOfOneAddress) {
  HttpServerOptions options = long_timeouts();
  options.connections_per_address_max = 1;
  options.tally = std::make_shared<AddressTally>();
  TestServer server{echo, options};
  const auto first = server.connect();
  ASSERT_TRUE(first->send(simple_get));
  ASSERT_EQ(first->read_response().status(), 200);
  const auto second = server.connect();
  second->send(simple_get);
  EXPECT_EQ(second->read_response().status(), 503);
  first->close();
  second->close();
  ASSERT_TRUE(eventually([&] { return server.counters().connections_open == 0; }));
  const auto third = server.connect();
  ASSERT_TRUE(third->send(simple_get));
  EXPECT_EQ(third->read_response().status(), 200);
}

TEST(HttpServer, DoesNotLimitTheConnectionsOfATrustedProxy) {
  HttpServerOptions options = long_timeouts();
  options.connections_per_address_max = 1;
  options.tally = std::make_shared<AddressTally>();
  options.trusted_proxies = {*Cidr::parse("127.0.0.0/8")};
  TestServer server{echo, options};
  const auto first = server.connect();
  ASSERT_TRUE(first->send(simple_get));
  ASSERT_EQ(first->read_response().status(), 200);
  const auto second = server.connect();
  ASSERT_TRUE(second->send(simple_get));
  EXPECT_EQ(second->read_response().status(), 200);
}

TEST(HttpServer, LimitsTheBufferedBodiesOfAllConnectionsTogether) {
  HttpServerOptions options = long_timeouts();
  options.buffered_bytes_max = 1000;
  TestServer server{echo, options};
  const auto holder = server.connect();
  ASSERT_TRUE(holder->send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 700\r\n\r\n" +
                           std::string(600, 'x')));
  const auto probe = [&] {
    const auto client = server.connect();
    client->send(post(std::string(500, 'y')));
    return client->read_response().status();
  };
  EXPECT_TRUE(eventually([&] { return probe() == 503; }));
  ASSERT_TRUE(holder->send(std::string(100, 'x')));
  EXPECT_EQ(holder->read_response().status(), 200);
  EXPECT_EQ(probe(), 200);
}

}  // namespace
}  // namespace postrider::api
