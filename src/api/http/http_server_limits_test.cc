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

#include "api/http/connection_state.h"
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
  options.connection_shares =
      std::make_shared<SharedShares>(ShareRules{.total = 100, .owner_max = 1});
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
  options.connection_shares =
      std::make_shared<SharedShares>(ShareRules{.total = 100, .owner_max = 1});
  options.trusted_proxies = {*Cidr::parse("127.0.0.0/8")};
  TestServer server{echo, options};
  const auto first = server.connect();
  ASSERT_TRUE(first->send(simple_get));
  ASSERT_EQ(first->read_response().status(), 200);
  const auto second = server.connect();
  ASSERT_TRUE(second->send(simple_get));
  EXPECT_EQ(second->read_response().status(), 200);
}

/// Header lines that name the owner of a body for the check below.
std::string as(const std::string& owner) { return "X-Owner: " + owner + "\r\n"; }

/// Requests without `X-Owner` are refused; `operator` is the operator, others are tenants.
tl::expected<BodyPermit, Problem> check_owner(const HttpRequest& head) {
  const std::string owner{head.header("x-owner").value_or("")};
  if (owner.empty()) {
    return tl::make_unexpected(Problem{401, "unauthorized", "Not authenticated", "No key.", {}});
  }
  const bool is_operator = owner == "operator";
  return BodyPermit{.body_bytes_max = 900,
                    .owner = is_operator ? ShareOwner{} : ShareOwner{ShareKind::tenant, owner}};
}

/// Announces a body and sends all of it but the last byte.
std::string unfinished(std::size_t length, const std::string& headers) {
  return "POST /p HTTP/1.1\r\nHost: h\r\n" + headers + "Content-Length: " + std::to_string(length) +
         "\r\n\r\n" + std::string(length - 1, 'x');
}

TEST(HttpServer, ChecksTheHeaderBeforeItReadsTheBody) {
  HttpServerOptions options = long_timeouts();
  options.check_head = check_owner;
  TestServer server{echo, options};
  for (const char* framing : {"Content-Length: 500\r\n", "Transfer-Encoding: chunked\r\n",
                              "Content-Length: 500\r\nExpect: 100-continue\r\n"}) {
    const auto client = server.connect();
    ASSERT_TRUE(client->send("POST /p HTTP/1.1\r\nHost: h\r\n" + std::string{framing} + "\r\n"));
    const RawResponse response = client->read_response();
    EXPECT_EQ(response.status(), 401) << framing;
    EXPECT_TRUE(response.has("Connection: close"));
  }
  const auto known = server.connect();
  ASSERT_TRUE(
      known->send("POST /p HTTP/1.1\r\nHost: h\r\nX-Owner: a\r\nContent-Length: 3\r\n"
                  "Expect: 100-continue\r\n\r\n"));
  EXPECT_EQ(known->read_response().head, "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(known->send("abc"));
  EXPECT_EQ(known->read_response().body, "POST /p abc");
}

TEST(HttpServer, TheCheckLimitsTheBody) {
  HttpServerOptions options = long_timeouts();
  options.check_head = check_owner;
  TestServer server{echo, options};
  const auto announced = server.connect();
  ASSERT_TRUE(
      announced->send("POST /p HTTP/1.1\r\nHost: h\r\nX-Owner: a\r\nContent-Length: 901\r\n"
                      "\r\n"));
  EXPECT_EQ(announced->read_response().status(), 413);
  const auto chunked = server.connect();
  ASSERT_TRUE(
      chunked->send("POST /p HTTP/1.1\r\nHost: h\r\nX-Owner: a\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n"));
  ASSERT_TRUE(chunked->send("385\r\nx"));
  const RawResponse response = chunked->read_response();
  EXPECT_EQ(response.status(), 413);
  EXPECT_NE(response.body.find("900 bytes"), std::string::npos);
}

TEST(HttpServer, OneOwnerCannotTakeTheMemoryForBodies) {
  HttpServerOptions options = long_timeouts();
  options.check_head = check_owner;
  options.buffered_bytes_max = 4000;
  options.body_bytes_max = 1000;
  TestServer server{echo, options};
  const auto holder = server.connect();
  ASSERT_TRUE(holder->send(unfinished(800, as("greedy"))));
  const auto status = [&](const std::string& owner) {
    const auto client = server.connect();
    client->send(unfinished(500, as(owner)));
    client->send("x");
    return client->read_response().status();
  };
  EXPECT_TRUE(eventually([&] { return status("greedy") == 429; }));
  EXPECT_EQ(status("modest"), 200);
  EXPECT_EQ(status("operator"), 200);
  ASSERT_TRUE(holder->send("x"));
  EXPECT_EQ(holder->read_response().status(), 200);
  EXPECT_EQ(status("greedy"), 200);
}

TEST(HttpServer, ManyOwnersLeaveRoomForTheOperator) {
  HttpServerOptions options = long_timeouts();
  options.check_head = check_owner;
  options.buffered_bytes_max = 4000;
  options.body_bytes_max = 1000;
  TestServer server{echo, options};
  std::vector<std::unique_ptr<test::RawClient>> holders;
  for (int number = 0; number < 8; ++number) {
    holders.push_back(server.connect());
    ASSERT_TRUE(holders.back()->send(unfinished(800, as("t" + std::to_string(number)))));
  }
  const auto client = server.connect();
  ASSERT_TRUE(client->send(unfinished(900, as("operator"))));
  ASSERT_TRUE(client->send("x"));
  EXPECT_EQ(client->read_response().status(), 200);
}

TEST(HttpServer, ServesClientsWithAKeyWhenThereAreTooManyConnections) {
  HttpServerOptions options = long_timeouts();
  options.check_head = check_owner;
  options.connections_max = 1;
  options.linger_timeout = 50ms;
  TestServer server{echo, options};
  const auto holder = server.connect();
  ASSERT_TRUE(holder->send(simple_get));
  ASSERT_EQ(holder->read_response().status(), 200);
  // More silent connections than there is room for: the oldest are closed.
  std::vector<std::unique_ptr<test::RawClient>> silent;
  for (int number = 0; number < 300; ++number) {
    silent.push_back(server.connect());
  }
  const auto client = server.connect();
  for (int number = 0; number < 3; ++number) {
    ASSERT_TRUE(client->send("GET /a HTTP/1.1\r\nHost: h\r\n" + as("operator") + "\r\n"));
    EXPECT_EQ(client->read_response().status(), 200);
  }
  const auto stranger = server.connect();
  stranger->send(simple_get);
  EXPECT_EQ(stranger->read_response().status(), 503);
  // One owner has a part of the places for further connections.
  std::vector<std::unique_ptr<test::RawClient>> greedy;
  int status = 200;
  while (status == 200 && greedy.size() < 100) {
    greedy.push_back(server.connect());
    greedy.back()->send("GET /a HTTP/1.1\r\nHost: h\r\n" + as("greedy") + "\r\n");
    status = greedy.back()->read_response().status();
  }
  EXPECT_EQ(status, 503);
  EXPECT_EQ(greedy.size(), HttpServerOptions{}.extra_connections_max / 4 + 1);
  const auto modest = server.connect();
  modest->send("GET /a HTTP/1.1\r\nHost: h\r\n" + as("modest") + "\r\n");
  EXPECT_EQ(modest->read_response().status(), 200);
  EXPECT_EQ(server.connect()->read_response().status(), 503) << "a client that says nothing";
}

TEST(HttpServer, LimitsTheBufferedBodiesOfAllConnectionsTogether) {
  HttpServerOptions options = long_timeouts();
  options.check_head = check_owner;
  options.buffered_bytes_max = 1000;
  TestServer server{echo, options};
  const auto holder = server.connect();
  ASSERT_TRUE(holder->send(unfinished(400, as("first"))));
  const auto probe = [&] {
    const auto client = server.connect();
    client->send(unfinished(300, as("second")));
    client->send("x");
    return client->read_response().status();
  };
  EXPECT_TRUE(eventually([&] { return probe() == 503; }));
  ASSERT_TRUE(holder->send("x"));
  EXPECT_EQ(holder->read_response().status(), 200);
  EXPECT_EQ(probe(), 200);
}

}  // namespace
}  // namespace postrider::api
