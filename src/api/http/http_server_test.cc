// The server over real sockets: requests, responses, and the port it listens on.
#include "api/http/http_server.h"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "api/http/http_server_fixture.h"

namespace postrider::api {
namespace {

using test::echo;
using test::long_timeouts;
using test::post;
using test::RawResponse;
using test::simple_get;
using test::TestServer;

TEST(HttpServer, AnswersSeveralRequestsOnOneConnection) {
  TestServer server{echo, long_timeouts()};
  const auto client = server.connect();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client->send(post("body" + std::to_string(i))));
    const RawResponse response = client->read_response();
    EXPECT_EQ(response.status(), 200);
    EXPECT_EQ(response.body, "POST /p body" + std::to_string(i));
  }
  EXPECT_EQ(server.counters().requests_handled, 5u);
  EXPECT_EQ(server.counters().connections_accepted, 1u);
}

TEST(HttpServer, AnswersAHundredPipelinedRequestsInOrder) {
  TestServer server{echo, long_timeouts()};
  const auto client = server.connect();
  std::string script;
  for (int i = 0; i < 100; ++i) {
    script += i % 2 == 0 ? post(std::to_string(i))
                         : "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n";
  }
  ASSERT_TRUE(client->send(script));
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    EXPECT_EQ(client->read_response().body,
              i % 2 == 0 ? "POST /p " + number : "GET /" + number + " ");
  }
}

TEST(HttpServer, ReadsARequestTheSameWhereverItsBytesAreSplit) {
  TestServer server{echo, long_timeouts()};
  const std::string script =
      "POST /s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" +
      post("xyz");
  const auto client = server.connect();
  client->socket().set_option(boost::asio::ip::tcp::no_delay{true});
  for (std::size_t cut = 1; cut < script.size(); ++cut) {
    ASSERT_TRUE(client->send(script.substr(0, cut)));
    // Gives the server an opportunity to read the first part by itself.
    server.call([] {});
    ASSERT_TRUE(client->send(script.substr(cut)));
    ASSERT_EQ(client->read_response().body, "POST /s abcde") << cut;
    ASSERT_EQ(client->read_response().body, "POST /p xyz") << cut;
  }
}

TEST(HttpServer, SendsLargeResponsesCompletely) {
  const std::string large(5'000'000, 'x');
  const auto handler = [&large](HttpRequest) -> boost::asio::awaitable<HttpResponse> {
    HttpResponse response;
    response.body = large;
    co_return response;
  };
  TestServer server{handler, long_timeouts()};
  const auto client = server.connect();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client->send(simple_get));
    EXPECT_EQ(client->read_response().body, large);
  }
}

TEST(HttpServer, KeepsTheLengthAndOmitsTheBodyForHead) {
  TestServer server{echo, long_timeouts()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n" + simple_get));
  EXPECT_TRUE(client->read_response(true).has("Content-Length: 8"));
  EXPECT_EQ(client->read_response().body, "GET /a ");
}

TEST(HttpServer, HonoursConnectionClose) {
  TestServer server{echo, long_timeouts()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(client->read_response().has("Connection: close"));
  EXPECT_EQ(client->read_to_end(), "");
}

TEST(HttpServer, AnswersAClientThatHasFinishedSending) {
  TestServer server{echo, long_timeouts()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(simple_get));
  client->finish_sending();
  EXPECT_EQ(client->read_response().status(), 200);
  EXPECT_EQ(client->read_to_end(), "");
}

TEST(HttpServer, SendsAConnectionHeaderToHttp10Clients) {
  TestServer server{echo, long_timeouts()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_TRUE(client->read_response().has("Connection: keep-alive"));
  ASSERT_TRUE(client->send("GET /a HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(client->read_response().has("Connection: close"));
  EXPECT_EQ(client->read_to_end(), "");
}

TEST(HttpServer, EchoesOrGeneratesARequestId) {
  HttpServerOptions options = long_timeouts();
  options.make_request_id = [] { return std::string{"made"}; };
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: mine\r\n\r\n"));
  EXPECT_TRUE(client->read_response().has("X-Request-Id: mine"));
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: a b\r\n\r\n"));
  EXPECT_TRUE(client->read_response().has("X-Request-Id: made"));
}

TEST(HttpServer, SendsADateHeaderFromTheClock) {
  HttpServerOptions options = long_timeouts();
  options.now = [] { return Moment{wall_from_unix_ms(784111777'000), {}}; };
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(simple_get));
  EXPECT_TRUE(client->read_response().has("Date: Sun, 06 Nov 1994 08:49:37 GMT"));
}

TEST(HttpServer, PassesAddressAndRequestIdToTheHandler) {
  const auto handler = [](HttpRequest request) -> boost::asio::awaitable<HttpResponse> {
    HttpResponse response;
    response.body = request.remote_ip + " " + request.request_id;
    co_return response;
  };
  TestServer server{handler, long_timeouts()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: r7\r\n\r\n"));
  EXPECT_EQ(client->read_response().body, "127.0.0.1 r7");
}

TEST(HttpServer, AHandlerThatThrowsGetsA500) {
  HttpServerOptions options = long_timeouts();
  std::string logged;
  options.on_handler_error = [&](std::string_view id, std::string_view what) {
    logged = std::string{id} + ": " + std::string{what};
  };
  const auto handler = [](HttpRequest request) -> boost::asio::awaitable<HttpResponse> {
    if (request.path == "/now") {
      throw std::runtime_error{"secret detail"};
    }
    if (request.path == "/int") {
      throw 7;
    }
    co_return HttpResponse{};
  };
  TestServer server{handler, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET /now HTTP/1.1\r\nHost: h\r\nX-Request-Id: r1\r\n\r\n"));
  const RawResponse response = client->read_response();
  EXPECT_EQ(response.status(), 500);
  EXPECT_EQ(response.body.find("secret detail"), std::string::npos);
  EXPECT_NE(response.body.find("r1"), std::string::npos);
  server.call([&] { EXPECT_EQ(logged, "r1: secret detail"); });

  ASSERT_TRUE(client->send("GET /int HTTP/1.1\r\nHost: h\r\n\r\n" + simple_get));
  EXPECT_EQ(client->read_response().status(), 500);
  EXPECT_EQ(client->read_response().status(), 200);  // The connection stays open.
  EXPECT_EQ(server.counters().handler_errors, 2u);
}

TEST(HttpServer, AHandlerThatThrowsOutsideACoroutineGetsA500) {
  const auto handler = [](HttpRequest) -> boost::asio::awaitable<HttpResponse> {
    throw std::runtime_error{"not a coroutine"};
  };
  TestServer server{handler, long_timeouts()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(simple_get));
  EXPECT_EQ(client->read_response().status(), 500);
}

TEST(HttpServer, ReportsWhyItCannotListen) {
  boost::asio::io_context io{1};
  HttpServerOptions alone = long_timeouts();
  alone.reuse_port = false;
  const auto first = listen(io, "127.0.0.1:0", echo, alone);
  ASSERT_TRUE(first.has_value());
  const std::string taken = "127.0.0.1:" + std::to_string((*first)->local_endpoint().port());
  const auto second = listen(io, taken, echo, alone);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::unavailable);
  EXPECT_NE(second.error().message.find(taken), std::string::npos);
  EXPECT_EQ(listen(io, "nonsense", echo, alone).error().code, Errc::invalid);
}

TEST(HttpServer, TwoListenersShareAPort) {
  boost::asio::io_context io{1};
  const auto first = listen(io, "127.0.0.1:0", echo, long_timeouts());
  ASSERT_TRUE(first.has_value());
  const std::string address = "127.0.0.1:" + std::to_string((*first)->local_endpoint().port());
  EXPECT_TRUE(listen(io, address, echo, long_timeouts()).has_value());
}

}  // namespace
}  // namespace postrider::api
