// Every request ends exactly once, also if the transport is stopped or resources run out.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "adapters/asio_http/transport_fixture.h"

namespace postrider::test {
namespace {

class Lifecycle : public TransportFixture {};

TEST_F(Lifecycle, ManyConcurrentRequestsEachEndOnce) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  constexpr int count = 200;
  std::vector<int> calls(count, 0);
  int ended = 0;
  for (std::size_t number = 0; number < count; ++number) {
    transport().send(request_to("127.0.0.1", receiver.port()), [&, number](const Outcome& outcome) {
      EXPECT_EQ(outcome.http_status, 200) << outcome.error_message;
      ++calls[number];
      ++ended;
    });
  }
  EXPECT_TRUE(run_until([&] { return ended == count; }));
  EXPECT_EQ(calls, std::vector<int>(count, 1));
}

TEST_F(Lifecycle, StopEndsEverythingBeforeItReturns) {
  const ScriptedReceiver receiver{[](Peer& peer) { peer.hold(); }};
  std::vector<Outcome> outcomes;
  const auto collect = [&](Outcome outcome) { outcomes.push_back(std::move(outcome)); };
  for (int number = 0; number < 3; ++number) {
    transport().send(request_to("127.0.0.1", receiver.port()), collect);
  }
  options_.addresses = {};
  OutboundRequest blocked = request_to("10.0.0.1", 80);  // Fails inside send().
  transport().send(std::move(blocked), collect);
  run_until([&] { return receiver.connections() == 3 && outcomes.size() == 1; });
  transport().stop();
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_EQ(outcomes[1].failure, FailureCategory::network);
  EXPECT_EQ(outcomes[1].error_message,
            "The request was cancelled because this server is shutting down.");

  transport().send(request_to("127.0.0.1", receiver.port()), collect);
  EXPECT_EQ(outcomes.size(), 4u);
  run_until([&] { return outcomes.size() == 5; });
  EXPECT_EQ(outcomes[4].failure, FailureCategory::network);
  EXPECT_TRUE(receiver.wait_for_ended(3));
}

TEST_F(Lifecycle, EndEndsTheRequestsOfOneGroupBeforeItReturns) {
  const ScriptedReceiver holding{[](Peer& peer) { peer.hold(); }};
  const ScriptedReceiver answering{ScriptedReceiver::answering(ok_response())};
  std::vector<Outcome> ended;
  const auto send = [&](std::uint16_t group, std::string_view host, std::uint16_t port) {
    OutboundRequest request = request_to(host, port);
    request.group = group;
    transport().send(std::move(request),
                     [&](Outcome outcome) { ended.push_back(std::move(outcome)); });
  };
  send(1, "127.0.0.1", holding.port());
  send(2, "127.0.0.1", holding.port());
  send(1, "127.0.0.1", holding.port());
  run_until([&] { return holding.connections() == 3; });
  send(1, "10.0.0.1", 80);  // Fails inside send().
  transport().end(1);
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_EQ(ended[0].failure, FailureCategory::network);
  EXPECT_EQ(ended[1].failure, FailureCategory::network);
  EXPECT_EQ(ended[2].failure, FailureCategory::blocked_address) << "its own failure";
  EXPECT_TRUE(holding.wait_for_ended(2));
  transport().end(1);
  transport().end(3);
  EXPECT_EQ(ended.size(), 3u) << "nothing is left to end";

  send(1, "127.0.0.1", answering.port());
  run_until([&] { return ended.size() == 4; });
  EXPECT_EQ(ended[3].http_status, 200) << "later requests of the group are not affected";
  EXPECT_EQ(answering.requests(), 1u);
  transport().stop();
  EXPECT_EQ(ended.size(), 5u);
}

TEST_F(Lifecycle, DoneMaySendAndDestroyTheTransportWhileAGroupIsEnded) {
  const ScriptedReceiver receiver{[](Peer& peer) { peer.hold(); }};
  int ended = 0;
  transport().send(request_to("127.0.0.1", receiver.port()), [&](const Outcome&) {
    ++ended;
    transport().send(request_to("127.0.0.1", receiver.port()), [&](const Outcome&) { ++ended; });
  });
  transport().send(request_to("127.0.0.1", receiver.port()), [&](const Outcome&) {
    ++ended;
    transport_.reset();
  });
  run_until([&] { return receiver.connections() == 2; });
  transport().end(0);
  EXPECT_EQ(ended, 3) << "the request that was sent meanwhile ended with the transport";
}

TEST_F(Lifecycle, StopReportsARequestThatFailedInsideSend) {
  int calls = 0;
  transport().send(request_to("10.0.0.1", 80), [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.failure, FailureCategory::blocked_address);
    ++calls;
  });
  EXPECT_EQ(calls, 0);
  transport().stop();
  EXPECT_EQ(calls, 1);
  io_.poll();
  EXPECT_EQ(calls, 1);
}

TEST_F(Lifecycle, StopClosesIdleConnectionsAndLeavesNothingRunning) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  EXPECT_EQ(post(receiver).http_status, 200);
  ASSERT_EQ(transport().idle_connections(), 1u);
  transport().stop();
  EXPECT_EQ(transport().idle_connections(), 0u);
  EXPECT_TRUE(receiver.wait_for_ended(1));
  io_.restart();
  io_.poll();
  EXPECT_TRUE(io_.stopped()) << "the event loop still has work";
}

TEST_F(Lifecycle, DoneMaySendAgainAndMayDestroyTheTransport) {
  const ScriptedReceiver receiver{ScriptedReceiver::answering(ok_response())};
  int ended = 0;
  std::function<void(Outcome)> again = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.http_status, 200);
    if (++ended < 10) {
      transport().send(request_to("127.0.0.1", receiver.port()), again);
    } else {
      transport_.reset();
    }
  };
  transport().send(request_to("127.0.0.1", receiver.port()), again);
  EXPECT_TRUE(run_until([&] { return ended == 10; }));
  io_.poll();
  EXPECT_EQ(receiver.connections(), 1u);
  EXPECT_EQ(receiver.requests(), 10u);
}

TEST_F(Lifecycle, DestroyingTheTransportEndsActiveRequests) {
  const ScriptedReceiver receiver{[](Peer& peer) { peer.hold(); }};
  int calls = 0;
  transport().send(request_to("127.0.0.1", receiver.port()), [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.failure, FailureCategory::network);
    ++calls;
  });
  transport_.reset();
  EXPECT_EQ(calls, 1);
  io_.poll();
  EXPECT_EQ(calls, 1);
}

TEST_F(Lifecycle, AnAttemptWithoutADescriptorIsNotMadeAndClosesIdleConnections) {
  const ScriptedReceiver first{ScriptedReceiver::answering(ok_response())};
  const ScriptedReceiver second{[](Peer& peer) {
    peer.read_request();
    peer.hold();
  }};
  EXPECT_EQ(post(first).http_status, 200);
  ASSERT_EQ(transport().idle_connections(), 1u);

  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = 3;  // Fewer than are open: no new one can be opened.
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  std::vector<Outcome> outcomes;
  transport().send(request_to("127.0.0.1", second.port()),
                   [&](Outcome outcome) { outcomes.push_back(std::move(outcome)); });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  run_until([&] { return outcomes.size() == 1; });
  EXPECT_EQ(outcomes[0].shortage, Shortage::server);
  EXPECT_EQ(outcomes[0].failure, std::nullopt);
  EXPECT_EQ(outcomes[0].error_message,
            fmt::format("Could not connect to 127.0.0.1 port {}: this server has no free file "
                        "descriptor.",
                        second.port()));
  EXPECT_EQ(transport().idle_connections(), 0u);
}

}  // namespace
}  // namespace postrider::test
