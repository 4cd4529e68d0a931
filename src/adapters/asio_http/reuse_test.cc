// Which connections are kept and reused, and which are not.
#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/asio_http/transport_fixture.h"

namespace postrider::test {
namespace {

class Reuse : public TransportFixture {
 protected:
  std::size_t idle() { return transport().idle_connections(); }

  void expect_ok(const Outcome& outcome) {
    EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
  }
};

TEST_F(Reuse, OneConnectionServesManyRequests) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  for (int number = 0; number < 20; ++number) {
    const Outcome outcome = post(receiver);
    expect_ok(outcome);
    EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
    if (number > 0) {
      EXPECT_EQ(outcome.timings.connect, 0us);
      EXPECT_EQ(outcome.timings.dns, 0us);
    }
  }
  EXPECT_EQ(receiver.connections(), 1u);
  EXPECT_EQ(receiver.requests(), 20u);
  EXPECT_EQ(idle(), 1u);
}

TEST_F(Reuse, OriginsDoNotShareConnections) {
  const ScriptedReceiver first{ScriptedReceiver::answering(ok_response())};
  const ScriptedReceiver second{ScriptedReceiver::answering(ok_response())};
  expect_ok(post(first));
  expect_ok(post(second));
  expect_ok(send(request_to("localhost", first.port())));  // The same address under another name.
  EXPECT_EQ(first.connections(), 2u);
  EXPECT_EQ(second.connections(), 1u);
  EXPECT_EQ(idle(), 3u);
}

TEST_F(Reuse, PlainAndTlsConnectionsAreNotShared) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  expect_ok(post(receiver));
  ASSERT_EQ(idle(), 1u);
  OutboundRequest over_tls = request_to("127.0.0.1", receiver.port(), true);
  over_tls.timeout = 200ms;  // The receiver waits for a plain request.
  EXPECT_TRUE(send(std::move(over_tls)).failure);
  EXPECT_EQ(receiver.connections(), 2u);
  EXPECT_EQ(receiver.requests(), 1u);
}

TEST_F(Reuse, ConnectionCloseAndHttp10AreRespected) {
  for (const std::string_view response :
       {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"}) {
    const ScriptedReceiver receiver{ScriptedReceiver::answering(std::string{response})};
    expect_ok(post(receiver));
    expect_ok(post(receiver));
    EXPECT_EQ(receiver.connections(), 2u);
    EXPECT_EQ(idle(), 0u);
  }
}

TEST_F(Reuse, BytesAfterTheResponseCloseTheConnection) {
  const std::string smuggled = ok_response() + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake";
  const ScriptedReceiver receiver{ScriptedReceiver::answering(smuggled)};
  for (int number = 0; number < 3; ++number) {
    const Outcome outcome = post(receiver);
    expect_ok(outcome);
    EXPECT_EQ(outcome.response_sample, "ok");
    EXPECT_EQ(idle(), 0u);
  }
  EXPECT_EQ(receiver.connections(), 3u);
}

TEST_F(Reuse, BytesWhileIdleCloseTheConnection) {
  std::atomic<bool> speak{false};
  const ScriptedReceiver receiver{[&](Peer& peer) {
    peer.read_request();
    peer.write(ok_response());
    while (peer.number() == 1 && !speak) {
      std::this_thread::yield();
    }
    if (peer.number() == 1) {
      peer.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake");
    }
    peer.hold();
  }};
  expect_ok(post(receiver));
  ASSERT_EQ(idle(), 1u);
  speak = true;
  EXPECT_TRUE(run_until([&] { return idle() == 0; }));
  const Outcome outcome = post(receiver);
  expect_ok(outcome);
  EXPECT_EQ(outcome.response_sample, "ok");
  EXPECT_EQ(receiver.connections(), 2u);
}

/// Bytes that have arrived before the event loop noticed them must not be read as a response.
TEST_F(Reuse, UnreadBytesPreventReuse) {
  std::atomic<bool> answered{false};
  std::atomic<bool> spoken{false};
  const ScriptedReceiver receiver{[&](Peer& peer) {
    peer.read_request();
    if (peer.number() == 1) {
      peer.write(ok_response());
      while (!answered) {
        std::this_thread::yield();
      }
      peer.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake");
      peer.wait_for_arrival();
      spoken = true;
    } else {
      peer.write(ok_response("true"));
    }
    peer.hold();
  }};
  std::optional<Outcome> second;
  transport().send(request_to("127.0.0.1", receiver.port()), [&](const Outcome& outcome) {
    expect_ok(outcome);
    answered = true;
    while (!spoken) {
      std::this_thread::yield();
    }
    transport().send(request_to("127.0.0.1", receiver.port()),
                     [&](Outcome result) { second = std::move(result); });
  });
  run_until([&] { return second.has_value(); });
  expect_ok(*second);
  EXPECT_EQ(second->response_sample, "true");
  EXPECT_EQ(receiver.connections(), 2u);
}

TEST_F(Reuse, AnIdleConnectionClosedByTheReceiverIsRemoved) {
  const ScriptedReceiver receiver{[](Peer& peer) {
    peer.read_request();
    peer.write(ok_response());
  }};
  expect_ok(post(receiver));
  EXPECT_TRUE(run_until([&] { return idle() == 0; }));
  expect_ok(post(receiver));
  EXPECT_EQ(receiver.connections(), 2u);
}

/// The receiver closes when the request arrives: the same attempt uses a new connection.
TEST_F(Reuse, ABrokenKeptConnectionIsReplaced) {
  for (const bool by_reset : {false, true}) {
    const ScriptedReceiver receiver{[by_reset](Peer& peer) {
      peer.read_request();
      peer.write(ok_response());
      if (peer.number() == 1) {
        peer.read_request();
        if (by_reset) {
          peer.reset();
        }
        return;
      }
      peer.hold();
    }};
    expect_ok(post(receiver));
    ASSERT_EQ(idle(), 1u);
    const Outcome outcome = post(receiver);
    expect_ok(outcome);
    EXPECT_EQ(receiver.connections(), 2u);
    EXPECT_EQ(receiver.requests(), 3u);
    EXPECT_EQ(outcome.remote_ip, "127.0.0.1");
    transport().stop();
    transport_.reset();
  }
}

TEST_F(Reuse, NoRetryAfterTheFirstResponseByte) {
  const ScriptedReceiver receiver{[](Peer& peer) {
    peer.read_request();
    peer.write(ok_response());
    peer.read_request();
    peer.write("H");
  }};
  expect_ok(post(receiver));
  const Outcome outcome = post(receiver);
  EXPECT_EQ(outcome.failure, FailureCategory::network);
  EXPECT_EQ(outcome.error_message,
            "The receiver closed the connection in the middle of the response.");
  EXPECT_EQ(receiver.connections(), 1u);
}

TEST_F(Reuse, ABrokenNewConnectionIsNotRetried) {
  const ScriptedReceiver receiver{[](Peer& peer) { peer.read_request(); }};
  EXPECT_EQ(post(receiver).failure, FailureCategory::network);
  EXPECT_EQ(receiver.connections(), 1u);
}

TEST_F(Reuse, ABrokenKeptConnectionIsReplacedOnlyOnce) {
  const ScriptedReceiver receiver{[](Peer& peer) {
    peer.read_request();
    if (peer.number() == 1) {
      peer.write(ok_response());
      peer.read_request();
    }
  }};
  expect_ok(post(receiver));
  const Outcome outcome = post(receiver);
  EXPECT_EQ(outcome.failure, FailureCategory::network);
  EXPECT_EQ(outcome.error_message, "The receiver closed the connection before a response arrived.");
  EXPECT_EQ(receiver.connections(), 2u);
  EXPECT_EQ(receiver.requests(), 3u);
}

TEST_F(Reuse, TheReplacementIsCheckedAgainstTheCurrentPolicy) {  // P11
  const ScriptedReceiver receiver{[](Peer& peer) {
    peer.read_request();
    peer.write(ok_response());
    peer.read_request();
  }};
  expect_ok(post(receiver));
  std::optional<Outcome> second;
  transport().send(request_to("127.0.0.1", receiver.port()),
                   [&](Outcome outcome) { second = std::move(outcome); });
  transport().change_addresses({});  // The request is already on the kept connection.
  ASSERT_TRUE(run_until([&] { return second.has_value(); }));
  EXPECT_EQ(second->failure, FailureCategory::blocked_address);
  EXPECT_EQ(second->remote_ip, "");  // Not the address of the connection that broke.
  EXPECT_EQ(receiver.connections(), 1u);
}

TEST_F(Reuse, TheRetryHasOnlyTheRestOfTheDeadline) {
  const ScriptedReceiver receiver{[](Peer& peer) {
    peer.read_request();
    if (peer.number() == 1) {
      peer.write(ok_response());
      peer.read_request();
      return;
    }
    peer.hold();
  }};
  expect_ok(post(receiver));
  const Outcome outcome = post(receiver, 300ms);
  EXPECT_EQ(outcome.failure, FailureCategory::timeout);
  EXPECT_EQ(receiver.connections(), 2u);
}

TEST_F(Reuse, AConnectionIdleForTooLongIsNotReused) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  expect_ok(post(receiver));
  clock_.offset += options_.pool.idle_timeout;
  expect_ok(post(receiver));
  EXPECT_EQ(receiver.connections(), 2u);
  EXPECT_EQ(idle(), 1u);
}

TEST_F(Reuse, IdleConnectionsAreSweptWithoutTraffic) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  expect_ok(post(receiver));
  ASSERT_EQ(idle(), 1u);
  clock_.offset += options_.pool.idle_timeout;
  EXPECT_TRUE(run_until([&] { return idle() == 0; }));
  EXPECT_TRUE(receiver.wait_for_ended(1));
}

TEST_F(Reuse, ABusyConnectionIsNotReusedBeyondItsMaximumAge) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  const Millis step = options_.pool.idle_timeout / 2;
  for (Millis age{0}; age < options_.pool.life_max; age += step) {
    expect_ok(post(receiver));
    EXPECT_EQ(receiver.connections(), 1u);
    clock_.offset += step;
  }
  expect_ok(post(receiver));
  EXPECT_EQ(receiver.connections(), 2u);
}

TEST_F(Reuse, AConnectionThatIsTooOldIsNotKept) {
  options_.pool.life_max = 1s;
  std::atomic<bool> answer{false};
  const ScriptedReceiver receiver{[&](Peer& peer) {
    peer.read_request();
    while (!answer) {
      std::this_thread::yield();
    }
    peer.write(ok_response());
    peer.hold();
  }};
  std::optional<Outcome> outcome;
  transport().send(request_to("127.0.0.1", receiver.port()),
                   [&](Outcome result) { outcome = std::move(result); });
  run_until([&] { return receiver.requests() == 1; });
  clock_.offset += options_.pool.life_max;
  answer = true;
  ASSERT_TRUE(run_until([&] { return outcome.has_value(); }));
  expect_ok(*outcome);
  EXPECT_EQ(idle(), 0u);
}

TEST_F(Reuse, EntriesOfUnusedOriginsAreRemoved) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  expect_ok(post(receiver));
  clock_.offset += options_.pool.idle_timeout;
  // The timer runs as long as the pool has an entry.
  EXPECT_TRUE(run_until([&] {
    io_.restart();
    io_.poll();
    return io_.stopped();
  }));
  EXPECT_EQ(idle(), 0u);
}

TEST_F(Reuse, IdleConnectionsAreBoundedPerOriginAndInTotal) {
  options_.pool.idle_per_origin_max = 3;
  options_.pool.idle_max = 5;
  const ScriptedReceiver first{ScriptedReceiver::answering(ok_response())};
  const ScriptedReceiver second{ScriptedReceiver::answering(ok_response())};
  int ended = 0;
  const auto burst = [&](const ScriptedReceiver& receiver) {
    for (int number = 0; number < 8; ++number) {
      transport().send(request_to("127.0.0.1", receiver.port()), [&](const Outcome& outcome) {
        expect_ok(outcome);
        ++ended;
      });
    }
  };
  burst(first);
  run_until([&] { return ended == 8; });
  EXPECT_EQ(idle(), 3u);
  burst(second);
  run_until([&] { return ended == 16; });
  EXPECT_EQ(idle(), 5u);
}

/// A receiver whose connection n answers `n` as soon as `finished` is at least n.
class Numbered {
 public:
  ScriptedReceiver::Script script() {
    return [this](Peer& peer) {
      while (peer.read_request()) {
        while (finished < peer.number()) {
          std::this_thread::yield();
        }
        peer.write(ok_response(std::to_string(peer.number())));
      }
    };
  }
  std::atomic<std::size_t> finished{0};
};

TEST_F(Reuse, TheMostRecentlyUsedConnectionIsTakenAndTheOldestDropped) {
  options_.pool.idle_per_origin_max = 2;
  Numbered numbered;
  const ScriptedReceiver receiver{numbered.script()};
  std::vector<std::string> answers;
  const auto collect = [&](const Outcome& outcome) { answers.push_back(outcome.response_sample); };
  for (std::size_t number = 1; number <= 3; ++number) {
    transport().send(request_to("127.0.0.1", receiver.port()), collect);
    run_until([&] { return receiver.requests() == number; });
  }
  for (std::size_t number = 1; number <= 3; ++number) {
    numbered.finished = number;
    run_until([&] { return answers.size() == number; });
  }
  ASSERT_EQ(answers, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(idle(), 2u);

  EXPECT_EQ(post(receiver).response_sample, "3");
  answers.clear();
  transport().send(request_to("127.0.0.1", receiver.port()), collect);
  transport().send(request_to("127.0.0.1", receiver.port()), collect);
  run_until([&] { return answers.size() == 2; });
  std::ranges::sort(answers);
  EXPECT_EQ(answers, (std::vector<std::string>{"2", "3"}));
}

TEST_F(Reuse, CountersFollowTheConnections) {
  const ScriptedReceiver first{ScriptedReceiver::answering(ok_response())};
  const ScriptedReceiver second{ScriptedReceiver::answering(ok_response())};
  const auto expect_counters = [&](std::uint64_t idle_now, std::uint64_t opened,
                                   std::uint64_t reused) {
    const TransportCounters counters = transport().counters();
    EXPECT_EQ(counters.idle, idle_now);
    EXPECT_EQ(counters.opened, opened);
    EXPECT_EQ(counters.reused, reused);
  };
  expect_counters(0, 0, 0);
  expect_ok(post(first));
  expect_counters(1, 1, 0);
  expect_ok(post(first));
  expect_counters(1, 1, 1);
  expect_ok(post(second));
  expect_counters(2, 2, 1);
  transport().send(request_to("127.0.0.1", first.port()), [](const Outcome&) {});
  expect_counters(1, 2, 2);
  transport().stop();
  expect_counters(0, 2, 2);
}

TEST_F(Reuse, AChangedPolicyAppliesToKeptConnections) {  // P11
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  expect_ok(post(receiver));
  ASSERT_EQ(idle(), 1u);

  AddressPolicy allowing = loopback_policy();
  allowing.denied = {*Cidr::parse("127.0.0.2/32")};
  transport().change_addresses(allowing);
  expect_ok(post(receiver));
  EXPECT_EQ(receiver.connections(), 1u);

  AddressPolicy denying = loopback_policy();
  denying.denied = {*Cidr::parse("127.0.0.1/32")};
  transport().change_addresses(denying);
  EXPECT_EQ(post(receiver).failure, FailureCategory::blocked_address);
  EXPECT_EQ(receiver.requests(), 2u);
  EXPECT_EQ(idle(), 0u);
}

}  // namespace
}  // namespace postrider::test
