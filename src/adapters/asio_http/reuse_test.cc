// Connections that carry more than one request, and those that must not.
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

TEST_F(Reuse, OneConnectionCarriesRequestAfterRequest) {
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

/// The event loop has not seen them yet, but they are there: the request must not meet them.
TEST_F(Reuse, BytesNobodyHasReadYetAreSeenBeforeReuse) {
  std::atomic<bool> spoken{false};
  const ScriptedReceiver receiver{[&](Peer& peer) {
    peer.read_request();
    if (peer.number() == 1) {
      peer.write(ok_response());
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

TEST_F(Reuse, AnIdleConnectionTheReceiverClosesIsForgotten) {
  const ScriptedReceiver receiver{[](Peer& peer) {
    peer.read_request();
    peer.write(ok_response());
  }};
  expect_ok(post(receiver));
  EXPECT_TRUE(run_until([&] { return idle() == 0; }));
  expect_ok(post(receiver));
  EXPECT_EQ(receiver.connections(), 2u);
}

/// The receiver hangs up exactly when the request arrives: same attempt, fresh connection.
TEST_F(Reuse, AKeptConnectionThatDiesUnderTheRequestIsReplacedOnce) {
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

TEST_F(Reuse, OnceAnyByteOfTheResponseCameThereIsNoSecondTry) {
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
            "The receiver closed the connection in the middle of its response.");
  EXPECT_EQ(receiver.connections(), 1u);
}

TEST_F(Reuse, AFreshConnectionThatDiesIsNotTriedAgain) {
  const ScriptedReceiver receiver{[](Peer& peer) { peer.read_request(); }};
  EXPECT_EQ(post(receiver).failure, FailureCategory::network);
  EXPECT_EQ(receiver.connections(), 1u);
}

TEST_F(Reuse, TheSecondTryHasOnlyWhatIsLeftOfTheDeadline) {
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
  clock_.pushed += options_.pool.idle_timeout;
  expect_ok(post(receiver));
  EXPECT_EQ(receiver.connections(), 2u);
  EXPECT_EQ(idle(), 1u);
}

TEST_F(Reuse, IdleConnectionsAreSweptWithoutTraffic) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  expect_ok(post(receiver));
  ASSERT_EQ(idle(), 1u);
  clock_.pushed += options_.pool.idle_timeout;
  EXPECT_TRUE(run_until([&] { return idle() == 0; }));
  EXPECT_TRUE(receiver.wait_for_ended(1));
}

TEST_F(Reuse, AnOldConnectionIsNotReusedHoweverBusy) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  const Millis step = options_.pool.idle_timeout / 2;
  for (Millis age{0}; age < options_.pool.life_max; age += step) {
    expect_ok(post(receiver));
    EXPECT_EQ(receiver.connections(), 1u);
    clock_.pushed += step;
  }
  expect_ok(post(receiver));
  EXPECT_EQ(receiver.connections(), 2u);
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
