// Requests over plain sockets to receivers that answer correctly, incorrectly, slowly or not at
// all. Each ends with exactly one outcome, within bounds of time and memory (P6, P12).
#include <atomic>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/asio_http/transport_fixture.h"

namespace postrider::test {
namespace {

class Http : public TransportFixture {
 protected:
  /// The outcome of one request to a receiver that reads it and runs `script`.
  Outcome outcome_of(ScriptedReceiver::Script script, Millis timeout = 5s) {
    const ScriptedReceiver receiver{[&](Peer& peer) {
      if (peer.read_request()) {
        script(peer);
      }
    }};
    return post(receiver, timeout);
  }

  Outcome outcome_of_bytes(std::string_view response, Millis timeout = 5s) {
    return outcome_of(
        [&](Peer& peer) {
          peer.write(response);
          peer.hold();
        },
        timeout);
  }

  void expect_failure(const Outcome& outcome, FailureCategory category, std::string_view sentence) {
    EXPECT_EQ(outcome.http_status, std::nullopt);
    EXPECT_EQ(outcome.failure, category) << outcome.error_message;
    EXPECT_EQ(outcome.error_message, sentence);
    EXPECT_EQ(outcome.response_sample, "");
    EXPECT_EQ(transport().idle_connections(), 0u);
  }
};

TEST_F(Http, AResponseIsReportedCompletely) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(
      "HTTP/1.1 202 Accepted\r\nX-Request: 7\r\nContent-Length: 5\r\n\r\nthere")};
  const Moment before = clock_.now();
  const Outcome outcome = post(receiver);
  EXPECT_EQ(outcome.http_status, 202);
  EXPECT_EQ(outcome.failure, std::nullopt);
  EXPECT_EQ(outcome.response_sample, "there");
  EXPECT_EQ(outcome.response_headers, (Headers{{"X-Request", "7"}, {"Content-Length", "5"}}));
  EXPECT_EQ(outcome.retry_after, std::nullopt);
  EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
  EXPECT_GE(outcome.executed_at, before.wall);
  EXPECT_GT(outcome.duration, 0us);
  EXPECT_GT(outcome.timings.first_byte, 0us);
  EXPECT_EQ(outcome.timings.tls, 0us);
  EXPECT_LE(outcome.timings.dns + outcome.timings.connect + outcome.timings.first_byte,
            outcome.duration);
  EXPECT_EQ(receiver.last_request(),
            "POST /hook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nhello");
}

TEST_F(Http, TimesAreCountedFromTheStartOfTheRequest) {
  std::atomic<bool> answer{false};
  const ScriptedReceiver receiver{[&](Peer& peer) {
    peer.read_request();
    while (!answer) {
      std::this_thread::yield();
    }
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
    peer.wait_for_arrival();
    peer.write("k");
    peer.hold();
  }};
  const WallTime before = clock_.now().wall;
  std::optional<Outcome> outcome;
  transport().send(request_to("127.0.0.1", receiver.port()),
                   [&](Outcome result) { outcome = std::move(result); });
  const WallTime sent = clock_.now().wall;
  run_until([&] { return receiver.requests() == 1; });
  clock_.offset += 2s;
  answer = true;
  ASSERT_TRUE(run_until([&] { return outcome.has_value(); }));
  EXPECT_EQ(outcome->http_status, 200) << outcome->error_message;
  EXPECT_GE(outcome->executed_at, before);
  EXPECT_LE(outcome->executed_at, sent);
  EXPECT_GE(outcome->duration, 2s);
  EXPECT_GE(outcome->timings.first_byte, 2s);
}

TEST_F(Http, ACompleteExchangeEndsWithoutReset) {
  std::atomic<bool> closed_cleanly{false};
  const ScriptedReceiver receiver{[&](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    closed_cleanly = peer.drain();
  }};
  EXPECT_EQ(post(receiver).http_status, 200);
  EXPECT_TRUE(receiver.wait_for_ended(1));
  EXPECT_TRUE(closed_cleanly);
}

TEST_F(Http, RedirectsAreReportedNotFollowed) {
  for (const int status : {301, 302, 303, 307, 308}) {
    for (const std::string_view target :
         {"/hook", "file:///etc/passwd", "gopher://127.0.0.1/", "http://169.254.169.254/latest"}) {
      const ScriptedReceiver receiver{ScriptedReceiver::answering(fmt::format(
          "HTTP/1.1 {} Elsewhere\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", status, target))};
      EXPECT_EQ(post(receiver).http_status, status);
      EXPECT_EQ(receiver.requests(), 1u);
    }
  }
}

TEST_F(Http, RetryAfterIsParsed) {
  struct Case {
    std::string_view value;
    std::optional<Millis> want;
  };
  const Case cases[] = {{"120", 120s},
                        {"0", 0s},
                        {"-5", std::nullopt},
                        {"soon", std::nullopt},
                        {"Wed, 21 Oct 2015 07:28:00 GMT", 0s}};
  for (const Case& expected : cases) {
    const Outcome outcome = outcome_of_bytes(fmt::format(
        "HTTP/1.1 503 Busy\r\nRetry-After: {}\r\nContent-Length: 0\r\n\r\n", expected.value));
    EXPECT_EQ(outcome.http_status, 503);
    EXPECT_EQ(outcome.retry_after, expected.want) << expected.value;
  }
  for (const std::string_view huge : {"1000000000000000000", "99999999999999999999999999"}) {
    const Outcome outcome = outcome_of_bytes(
        fmt::format("HTTP/1.1 429 Busy\r\nRetry-After: {}\r\nContent-Length: 0\r\n\r\n", huge));
    EXPECT_EQ(outcome.http_status, 429) << huge;
    EXPECT_GT(outcome.retry_after.value_or(24h), 1h) << huge;
  }
}

TEST_F(Http, BodiesAndUnknownHeadersAreNotInterpreted) {
  const std::string body("\x1f\x8b\x08\x00\x00\x00\x00\x00", 8);
  const Outcome outcome = outcome_of_bytes(
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nSet-Cookie: a=b\r\nAlt-Svc: h3=\":443\"\r\n"
      "Strict-Transport-Security: max-age=1\r\nContent-Length: 8\r\n\r\n" +
      body);
  EXPECT_EQ(outcome.http_status, 200);
  EXPECT_EQ(outcome.response_sample, body);
}

TEST_F(Http, ChunkedAndUntilCloseBodiesAreRead) {
  const Outcome chunked = outcome_of_bytes(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.http_status, 200);
  EXPECT_EQ(chunked.response_sample, "onetwo");

  const Outcome closed = outcome_of([](Peer& peer) { peer.write("HTTP/1.0 200 OK\r\n\r\nbye"); });
  EXPECT_EQ(closed.http_status, 200);
  EXPECT_EQ(closed.response_sample, "bye");

  const Outcome half_closed = outcome_of([](Peer& peer) {
    peer.write("HTTP/1.1 200 OK\r\n\r\nbye");
    peer.half_close();
    peer.hold();
  });
  EXPECT_EQ(half_closed.http_status, 200);
}

// --- Slow receivers ---

TEST_F(Http, AReceiverThatNeverReadsTimesOut) {
  const ScriptedReceiver receiver{[](Peer& peer) { peer.hold(); }, {.receive_buffer_bytes = 4'096}};
  OutboundRequest request = request_to("127.0.0.1", receiver.port());
  request.bytes.append(16'000'000, 'x');
  request.timeout = 300ms;
  const Outcome outcome = send(std::move(request));
  expect_failure(outcome, FailureCategory::timeout,
                 "Timed out after 300 ms while sending the request.");
  EXPECT_GE(outcome.duration, 300ms);
  EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
  EXPECT_TRUE(receiver.wait_for_ended(1));
}

TEST_F(Http, AReceiverThatReadsByteByByteTimesOut) {
  const ScriptedReceiver receiver{[](Peer& peer) { peer.read_slowly(20ms); },
                                  {.receive_buffer_bytes = 4'096}};
  OutboundRequest request = request_to("127.0.0.1", receiver.port());
  request.bytes.append(16'000'000, 'x');
  request.timeout = 300ms;
  expect_failure(send(std::move(request)), FailureCategory::timeout,
                 "Timed out after 300 ms while sending the request.");
  EXPECT_TRUE(receiver.wait_for_ended(1));
}

TEST_F(Http, AReceiverThatNeverAnswersTimesOut) {
  const Outcome outcome = outcome_of([](Peer& peer) { peer.hold(); }, 300ms);
  expect_failure(outcome, FailureCategory::timeout,
                 "Timed out after 300 ms while waiting for the response.");
  EXPECT_GE(outcome.duration, 300ms);
}

TEST_F(Http, SlowBytesDoNotExtendTheDeadline) {
  const std::string_view slow_heads[] = {
      "HTTP/1.1 200 OK\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
      "HTTP/1.1 200 OK\r\n\r\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"};
  for (const std::string_view bytes : slow_heads) {
    const Outcome outcome = outcome_of([&](Peer& peer) { peer.write_slowly(bytes, 15ms); }, 300ms);
    expect_failure(outcome, FailureCategory::timeout,
                   "Timed out after 300 ms while reading the response.");
  }
}

TEST_F(Http, ABodyThatStopsHalfWayTimesOut) {
  const Outcome outcome =
      outcome_of_bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", 300ms);
  expect_failure(outcome, FailureCategory::timeout,
                 "Timed out after 300 ms while reading the response.");
}

TEST_F(Http, ATimeoutOfZeroStillEnds) {
  const Outcome outcome = outcome_of([](Peer& peer) { peer.hold(); }, 0ms);
  EXPECT_EQ(outcome.failure, FailureCategory::timeout);
}

// --- Limits ---

TEST_F(Http, EndlessBodiesAreCutAndTheStatusCounts) {
  const std::string block(8'192, 'b');
  struct Case {
    std::string_view head;
    std::string block;
  };
  const Case cases[] = {
      {"HTTP/1.1 200 OK\r\n\r\n", block},
      {"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", block},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
       fmt::format("2000\r\n{}\r\n", block)},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1;extension\r\nb\r\n"},
  };
  for (const Case& endless : cases) {
    const Outcome outcome = outcome_of([&](Peer& peer) {
      peer.write(endless.head);
      peer.write_endlessly(endless.block);
    });
    EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
    EXPECT_EQ(outcome.response_sample, std::string(response_sample_bytes_max, 'b'));
    EXPECT_EQ(transport().idle_connections(), 0u);
  }
}

TEST_F(Http, EndlessHeadsAreRejected) {
  struct Case {
    std::string_view begin;
    std::string_view again;
    std::string_view sentence;
  };
  const Case cases[] = {
      {"HTTP/1.1 200 OK\r\n", "X-A: b\r\n", "The receiver's response has more than 100 headers."},
      {"HTTP/1.1 200 OK\r\nX: ", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
       "The headers of the receiver's response are larger than 16 KiB."},
      {"", "HTTP/1.1 100 Continue\r\n\r\n",
       "The receiver sent more than 16 interim (1xx) responses."},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "eeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
       "A chunk header of the receiver's response is too long."},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-Trailer: b\r\n",
       "The receiver's response has more than 100 headers."},
      {"", "garbage", "The receiver's response is not HTTP/1.0 or HTTP/1.1."},
  };
  for (const Case& endless : cases) {
    const Outcome outcome = outcome_of([&](Peer& peer) {
      peer.write(endless.begin);
      peer.write_endlessly(endless.again);
    });
    expect_failure(outcome, FailureCategory::protocol, endless.sentence);
  }
}

TEST_F(Http, MalformedResponsesAreProtocolFailures) {
  const std::string_view responses[] = {
      "HTTP/1.1 000 Zero\r\n\r\n",
      "HTTP/1.1 099 Low\r\n\r\n",
      "HTTP/1.1 999 High\r\n\r\n",
      "HTTP/1.1 2OO OK\r\n\r\n",
      "HTTP/3.7 200 OK\r\n\r\n",
      "<html>this is HTTP/0.9</html>",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nX-A: b\r\n folded\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-A: b\rc\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokno\r\n",
      "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
  };
  for (const std::string_view response : responses) {
    const Outcome outcome = outcome_of_bytes(response);
    EXPECT_EQ(outcome.failure, FailureCategory::protocol) << response;
    EXPECT_EQ(transport().idle_connections(), 0u);
  }
}

// --- Broken connections ---

TEST_F(Http, ARefusedConnectionIsANetworkFailure) {
  std::uint16_t port = 0;
  {
    const ScriptedReceiver gone{[](Peer&) {}};
    port = gone.port();
  }
  const Outcome outcome = send(request_to("127.0.0.1", port));
  expect_failure(
      outcome, FailureCategory::network,
      fmt::format("Could not connect to 127.0.0.1 port {}: the connection was refused.", port));
  EXPECT_EQ(outcome.remote_ip, "");
}

TEST_F(Http, ClosingBeforeTheResponseIsANetworkFailure) {
  expect_failure(outcome_of([](Peer&) {}), FailureCategory::network,
                 "The receiver closed the connection before a response arrived.");
  expect_failure(
      outcome_of([](Peer& peer) { peer.reset(); }), FailureCategory::network,
      "The connection to the receiver broke (the connection was reset) before a response arrived.");
}

TEST_F(Http, ClosingDuringTheResponseIsANetworkFailure) {
  expect_failure(outcome_of([](Peer& peer) { peer.write("HTTP/1.1 200 OK\r\nContent-"); }),
                 FailureCategory::network,
                 "The receiver closed the connection in the middle of the response.");
}

TEST_F(Http, AResetAfterACompleteResponseIsTolerated) {
  const Outcome outcome = outcome_of([](Peer& peer) {
    peer.write(ok_response());
    peer.reset();
  });
  // If the RST overtakes the response in the kernel, the outcome is a network failure.
  if (outcome.failure) {
    EXPECT_EQ(outcome.failure, FailureCategory::network);
  } else {
    EXPECT_EQ(outcome.http_status, 200);
  }
  EXPECT_TRUE(run_until([&] { return transport().idle_connections() == 0; }));
}

TEST_F(Http, AnEarlyResponseIsAcceptedAndTheConnectionClosed) {
  const ScriptedReceiver receiver{
      [](Peer& peer) {
        peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
        peer.hold();
      },
      {.receive_buffer_bytes = 4'096}};
  OutboundRequest request = request_to("127.0.0.1", receiver.port());
  request.bytes.append(16'000'000, 'x');
  const Outcome outcome = send(std::move(request));
  EXPECT_EQ(outcome.http_status, 413);
  EXPECT_EQ(transport().idle_connections(), 0u);
  EXPECT_TRUE(receiver.wait_for_ended(1));
}

TEST_F(Http, ALargeRequestArrivesCompletely) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response()),
                                  {.receive_buffer_bytes = 4'096}};
  OutboundRequest request = request_to("127.0.0.1", receiver.port());
  std::string body;
  for (int number = 0; body.size() < 3'000'000; ++number) {
    body += std::to_string(number);
  }
  request.bytes = fmt::format("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  const std::string sent = request.bytes;
  EXPECT_EQ(send(std::move(request)).http_status, 200);
  EXPECT_TRUE(receiver.last_request() == sent);
  EXPECT_EQ(transport().idle_connections(), 1u);
}

// --- Addresses ---

TEST_F(Http, AForbiddenAddressIsNeverConnectedTo) {  // P11
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  options_.addresses = {};
  const Outcome outcome = post(receiver);
  EXPECT_EQ(outcome.failure, FailureCategory::blocked_address);
  const std::string rule = *forbidden_address(*IpAddress::parse("127.0.0.1"), {});
  EXPECT_EQ(outcome.error_message,
            fmt::format("Requests to this address are not allowed: 127.0.0.1: {}.", rule));
  EXPECT_EQ(outcome.remote_ip, "");
  EXPECT_EQ(receiver.connections(), 0u);
}

TEST_F(Http, ThePolicyIsCheckedAgainAfterConnecting) {  // P11
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  std::optional<Outcome> outcome;
  transport().send(request_to("127.0.0.1", receiver.port()),
                   [&](Outcome result) { outcome = std::move(result); });
  transport().change_addresses({});  // The connection is not established yet.
  ASSERT_TRUE(run_until([&] { return outcome.has_value(); }));
  EXPECT_EQ(outcome->failure, FailureCategory::blocked_address);
  EXPECT_EQ(receiver.requests(), 0u);
}

TEST_F(Http, TheServersOwnListenerIsNeverSentARequest) {  // P11
  const ScriptedReceiver own{ScriptedReceiver::answering(ok_response())};
  const ScriptedReceiver other{ScriptedReceiver::answering(ok_response())};
  options_.addresses.own = {*IpAddress::parse("127.0.0.1"), own.port()};
  const Outcome outcome = send(request_to("localhost", own.port()));
  EXPECT_EQ(outcome.failure, FailureCategory::blocked_address);
  EXPECT_EQ(outcome.error_message,
            "Requests to this address are not allowed: 127.0.0.1: this server's own listener.");
  EXPECT_EQ(own.requests(), 0u);
  EXPECT_EQ(post(other).http_status, 200);
}

TEST_F(Http, LocalhostIsLoopbackIfThePolicyAllowsIt) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  EXPECT_EQ(send(request_to("localhost", receiver.port())).http_status, 200);
  EXPECT_EQ(send(request_to("app.localhost", receiver.port())).http_status, 200);
  transport().change_addresses({});
  EXPECT_EQ(send(request_to("localhost", receiver.port())).failure,
            FailureCategory::blocked_address);
}

TEST_F(Http, SendsOverIPv6) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response()), {.address = "::1"}};
  const Outcome outcome = send(request_to("::1", receiver.port()));
  EXPECT_EQ(outcome.http_status, 200);
  EXPECT_EQ(outcome.remote_ip, "::1");
}

}  // namespace
}  // namespace postrider::test
