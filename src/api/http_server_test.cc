// The server over real sockets: order, limits, deadlines, ends.
#include "api/http_server.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>

#include "api/http_server_fixture.h"

namespace postrider::api {
namespace {

using namespace std::chrono_literals;
using test::echo;
using test::eventually;
using test::RawClient;
using test::RawResponse;
using test::TestServer;

const std::string simple_get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

std::string post(const std::string& body, const std::string& headers = "") {
  return "POST /p HTTP/1.1\r\nHost: h\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Every deadline far away, so that only the one under test can pass.
HttpServerOptions patient() {
  HttpServerOptions options;
  options.header_timeout = 60s;
  options.body_timeout = 60s;
  options.write_timeout = 60s;
  options.idle_timeout = 60s;
  return options;
}

TEST(HttpServer, AnswersSeveralRequestsOnOneConnection) {
  TestServer server{echo, patient()};
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
  TestServer server{echo, patient()};
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

TEST(HttpServer, ReadsTheSameWhereverTheBytesAreSplit) {
  TestServer server{echo, patient()};
  const std::string script =
      "POST /s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" +
      post("xyz");
  const auto client = server.connect();
  client->socket().set_option(boost::asio::ip::tcp::no_delay{true});
  for (std::size_t cut = 1; cut < script.size(); ++cut) {
    ASSERT_TRUE(client->send(script.substr(0, cut)));
    // The server has seen the first part once it has handled what is complete in it.
    server.call([] {});
    ASSERT_TRUE(client->send(script.substr(cut)));
    ASSERT_EQ(client->read_response().body, "POST /s abcde") << cut;
    ASSERT_EQ(client->read_response().body, "POST /p xyz") << cut;
  }
}

TEST(HttpServer, SendsLargeAnswersWhole) {
  const std::string large(5'000'000, 'x');
  const auto handler = [&large](HttpRequest) -> boost::asio::awaitable<HttpResponse> {
    HttpResponse response;
    response.body = large;
    co_return response;
  };
  TestServer server{handler, patient()};
  const auto client = server.connect();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client->send(simple_get));
    EXPECT_EQ(client->read_response().body, large);
  }
}

TEST(HttpServer, KeepsTheLengthAndLeavesOutTheBodyForHead) {
  TestServer server{echo, patient()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n" + simple_get));
  EXPECT_TRUE(client->read_response(true).has("Content-Length: 8"));
  EXPECT_EQ(client->read_response().body, "GET /a ");
}

TEST(HttpServer, HonoursConnectionClose) {
  TestServer server{echo, patient()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(client->read_response().has("Connection: close"));
  EXPECT_EQ(client->read_to_end(), "");
}

TEST(HttpServer, AnswersAClientThatHasFinishedSending) {
  TestServer server{echo, patient()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(simple_get));
  client->finish_sending();
  EXPECT_EQ(client->read_response().status(), 200);
  EXPECT_EQ(client->read_to_end(), "");
}

TEST(HttpServer, ToldHttp10WhetherItMayGoOn) {
  TestServer server{echo, patient()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_TRUE(client->read_response().has("Connection: keep-alive"));
  ASSERT_TRUE(client->send("GET /a HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(client->read_response().has("Connection: close"));
  EXPECT_EQ(client->read_to_end(), "");
}

TEST(HttpServer, EchoesOrMakesARequestId) {
  HttpServerOptions options = patient();
  options.make_request_id = [] { return std::string{"made"}; };
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: mine\r\n\r\n"));
  EXPECT_TRUE(client->read_response().has("X-Request-Id: mine"));
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: a b\r\n\r\n"));
  EXPECT_TRUE(client->read_response().has("X-Request-Id: made"));
}

TEST(HttpServer, StatesTheDateItWasGiven) {
  HttpServerOptions options = patient();
  options.now = [] { return Moment{wall_from_unix_ms(784111777'000), {}}; };
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(simple_get));
  EXPECT_TRUE(client->read_response().has("Date: Sun, 06 Nov 1994 08:49:37 GMT"));
}

TEST(HttpServer, TellsTheHandlerWhoIsAsking) {
  const auto handler = [](HttpRequest request) -> boost::asio::awaitable<HttpResponse> {
    HttpResponse response;
    response.body = request.remote_ip + " " + request.request_id;
    co_return response;
  };
  TestServer server{handler, patient()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: r7\r\n\r\n"));
  EXPECT_EQ(client->read_response().body, "127.0.0.1 r7");
}

TEST(HttpServer, RefusesAndClosesAndTheClientSeesWhy) {
  TestServer server{echo, patient()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n" + simple_get));
  const RawResponse response = client->read_response();
  EXPECT_EQ(response.status(), 400);
  EXPECT_TRUE(response.has("Content-Type: application/problem+json"));
  EXPECT_TRUE(response.has("Connection: close"));
  client->finish_sending();
  EXPECT_EQ(client->read_to_end(), "");  // What came behind is not answered.
  EXPECT_EQ(server.counters().requests_refused, 1u);
  EXPECT_EQ(server.counters().requests_handled, 0u);
}

TEST(HttpServer, ASenderOfTooMuchStillReadsTheAnswer) {
  HttpServerOptions options = patient();
  options.body_bytes_max = 1000;
  TestServer server{echo, options};
  const auto client = server.connect();
  // Far more than socket buffers hold: the client would block if nobody read it.
  client->send(post(std::string(20'000'000, 'x')));
  const RawResponse response = client->read_response();
  EXPECT_EQ(response.status(), 413);
  EXPECT_NE(response.body.find("1000 bytes"), std::string::npos);
}

TEST(HttpServer, InvitesTheBodyOfAWaitingClient) {
  TestServer server{echo, patient()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(
      "POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"));
  EXPECT_EQ(client->read_response().head, "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client->send("abc"));
  EXPECT_EQ(client->read_response().body, "POST /p abc");
}

TEST(HttpServer, InvitesNobodyItWillRefuse) {
  HttpServerOptions options = patient();
  options.body_bytes_max = 2;
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(
      "POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"));
  EXPECT_EQ(client->read_response().status(), 413);
}

TEST(HttpServer, ASlowHeaderIsAnswered408) {
  HttpServerOptions options = patient();
  options.header_timeout = 40ms;
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost"));
  const RawResponse response = client->read_response();
  EXPECT_EQ(response.status(), 408);
  EXPECT_TRUE(response.has("Connection: close"));
  EXPECT_EQ(server.counters().timeouts, 1u);
}

TEST(HttpServer, TricklingDoesNotMoveTheDeadline) {
  HttpServerOptions options = patient();
  options.header_timeout = 100ms;
  TestServer server{echo, options};
  const auto client = server.connect();
  std::atomic<bool> answered = false;
  std::thread trickle{[&] {
    client->send("GET / HTTP/1.1\r\n");
    while (!answered && client->send("A: b\r\n")) {
      std::this_thread::sleep_for(5ms);
    }
  }};
  EXPECT_EQ(client->read_response().status(), 408);
  answered = true;
  trickle.join();
}

TEST(HttpServer, ASlowBodyIsAnswered408) {
  HttpServerOptions options = patient();
  options.body_timeout = 40ms;
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabc"));
  EXPECT_EQ(client->read_response().status(), 408);
}

TEST(HttpServer, ClosesSilentlyWhatIsIdle) {
  HttpServerOptions options = patient();
  options.idle_timeout = 40ms;
  TestServer server{echo, options};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(simple_get));
  EXPECT_EQ(client->read_response().status(), 200);
  EXPECT_EQ(client->read_to_end(), "");
  EXPECT_EQ(server.counters().timeouts, 0u);
}

TEST(HttpServer, ClosesSilentlyWhoNeverSaysAnything) {
  HttpServerOptions options = patient();
  options.header_timeout = 40ms;
  TestServer server{echo, options};
  EXPECT_EQ(server.connect()->read_to_end(), "");
}

TEST(HttpServer, GivesUpOnAReaderThatDoesNotRead) {
  HttpServerOptions options = patient();
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

TEST(HttpServer, TurnsAwayConnectionsOverTheLimit) {
  HttpServerOptions options = patient();
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

TEST(HttpServer, LimitsTheBodiesOfAllConnectionsTogether) {
  HttpServerOptions options = patient();
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

TEST(HttpServer, AHandlerThatThrowsIsA500AndNotACrash) {
  HttpServerOptions options = patient();
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
  EXPECT_EQ(client->read_response().status(), 200);  // The connection goes on.
  EXPECT_EQ(server.counters().handler_errors, 2u);
}

TEST(HttpServer, AHandlerThatThrowsBeforeItIsACoroutineIsA500Too) {
  const auto handler = [](HttpRequest) -> boost::asio::awaitable<HttpResponse> {
    throw std::runtime_error{"at once"};
  };
  TestServer server{handler, patient()};
  const auto client = server.connect();
  ASSERT_TRUE(client->send(simple_get));
  EXPECT_EQ(client->read_response().status(), 500);
}

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

TEST(HttpServer, SaysWhyItCannotListen) {
  boost::asio::io_context io{1};
  HttpServerOptions alone = patient();
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
  const auto first = listen(io, "127.0.0.1:0", echo, patient());
  ASSERT_TRUE(first.has_value());
  const std::string address = "127.0.0.1:" + std::to_string((*first)->local_endpoint().port());
  EXPECT_TRUE(listen(io, address, echo, patient()).has_value());
}

}  // namespace
}  // namespace postrider::api
