// Requests that are refused by their header and decided about again after a wait.
#include <atomic>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "api/http/http_server_fixture.h"

namespace postrider::api {
namespace {

using namespace std::chrono_literals;
using test::echo;
using test::eventually;
using test::long_timeouts;
using test::RawResponse;
using test::TestServer;

using Decision = tl::expected<BodyPermit, Problem>;

Decision refuse(std::uint16_t status) {
  return tl::make_unexpected(Problem{status, "refused", "Refused", "No.", {}});
}

/// Refuses with the status that the header X-Refuse names.
Decision check(const HttpRequest& head) {
  return refuse(static_cast<std::uint16_t>(std::stoi(std::string{*head.header("x-refuse")})));
}

/// Knows every client with the header X-Known, after a moment.
struct Others {
  boost::asio::awaitable<Decision> decide(HttpRequest& head, Problem refusal) {
    ++asked;
    const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
    boost::asio::steady_timer timer{executor, 1ms};
    co_await timer.async_wait(boost::asio::use_awaitable);
    if (head.header("x-known")) {
      co_return BodyPermit{.body_bytes_max = 900, .owner = {}};
    }
    co_return tl::make_unexpected(std::move(refusal));
  }

  HttpServerOptions options() {
    HttpServerOptions options = long_timeouts();
    options.check_head = check;
    options.recheck_head = [this](HttpRequest& head, Problem refusal) {
      return decide(head, std::move(refusal));
    };
    return options;
  }

  std::atomic<int> asked{0};
};

std::string post(const std::string& headers) {
  return "POST /p HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n";
}

TEST(HttpServerRecheck, ReadsTheBodyOfAClientThatOtherServersKnow) {
  Others others;
  TestServer server{echo, others.options()};
  const std::string known = "X-Known: 1\r\nX-Refuse: 401\r\n";
  const auto client = server.connect();
  ASSERT_TRUE(client->send(post(known + "Content-Length: 3\r\nExpect: 100-continue\r\n")));
  EXPECT_EQ(client->read_response().head, "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client->send("abc"));
  EXPECT_EQ(client->read_response().body, "POST /p abc");
  ASSERT_TRUE(client->send(post(known + "Content-Length: 6\r\n") + "abc"));
  EXPECT_TRUE(eventually([&] { return others.asked == 2; }));
  ASSERT_TRUE(client->send("def"));
  EXPECT_EQ(client->read_response().body, "POST /p abcdef");
  ASSERT_TRUE(client->send(post(known + "Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n"));
  EXPECT_TRUE(eventually([&] { return others.asked == 3; }));
  ASSERT_TRUE(client->send("3\r\nghi\r\n0\r\n\r\n"));
  EXPECT_EQ(client->read_response().body, "POST /p abcghi");
}

TEST(HttpServerRecheck, TheSecondDecisionIsFinal) {
  Others others;
  TestServer server{echo, others.options()};
  for (const int status : {401, 403}) {
    const auto client = server.connect();
    ASSERT_TRUE(
        client->send(post("X-Refuse: " + std::to_string(status) + "\r\nContent-Length: 3\r\n")));
    const RawResponse response = client->read_response();
    EXPECT_EQ(response.status(), status);
    EXPECT_TRUE(response.has("Connection: close"));
  }
  EXPECT_EQ(others.asked, 2);
  EXPECT_EQ(server.counters().requests_refused, 2u);
}

TEST(HttpServerRecheck, OtherRefusalsAreFinalAtOnce) {
  Others others;
  TestServer server{echo, others.options()};
  for (const int status : {404, 405, 413, 429}) {
    const auto client = server.connect();
    ASSERT_TRUE(client->send(
        post("X-Known: 1\r\nX-Refuse: " + std::to_string(status) + "\r\nContent-Length: 3\r\n")));
    EXPECT_EQ(client->read_response().status(), status);
  }
  EXPECT_EQ(others.asked, 0);
}

TEST(HttpServerRecheck, TheSecondDecisionLimitsTheBody) {
  Others others;
  TestServer server{echo, others.options()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(post("X-Known: 1\r\nX-Refuse: 401\r\nContent-Length: 901\r\n")));
  EXPECT_EQ(client->read_response().status(), 413);
}

TEST(HttpServerRecheck, AKnownClientGetsAPlaceWhenThereAreTooManyConnections) {
  Others others;
  HttpServerOptions options = others.options();
  options.connections_max = 1;
  TestServer server{echo, options};
  const auto holder = server.connect();
  ASSERT_TRUE(holder->send(test::simple_get));
  ASSERT_EQ(holder->read_response().status(), 200);
  const auto client = server.connect();
  const std::string whole = "GET /a HTTP/1.1\r\nHost: h\r\nX-Refuse: 401\r\n";
  for (int number = 0; number < 3; ++number) {
    ASSERT_TRUE(client->send(whole + "X-Known: 1\r\n\r\n"));
    EXPECT_EQ(client->read_response().status(), 200);
  }
  EXPECT_EQ(others.asked, 1);
  const auto stranger = server.connect();
  ASSERT_TRUE(stranger->send(whole + "\r\n"));
  EXPECT_EQ(stranger->read_response().status(), 503);
}

TEST(HttpServerRecheck, AClientMayLeaveDuringTheWait) {
  Others others;
  TestServer server{echo, others.options()};
  for (int number = 0; number < 20; ++number) {
    const auto client = server.connect();
    ASSERT_TRUE(client->send(post("X-Known: 1\r\nX-Refuse: 401\r\nContent-Length: 3\r\n")));
    client->close();
  }
  EXPECT_TRUE(eventually([&] { return server.counters().connections_open == 0; }));
}

}  // namespace
}  // namespace postrider::api
