#include "engine/shard/pending_settlements.h"

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{1'000'000us};

Settlement settlement(std::uint8_t id, DeliveryState state = DeliveryState::dead_letter) {
  Settlement made;
  made.delivery.id.bytes[0] = id;
  made.delivery.state = state;
  return made;
}

std::vector<LaneDelivery> names(std::initializer_list<Settlement> settlements) {
  std::vector<LaneDelivery> result;
  for (const Settlement& each : settlements) {
    result.push_back({each.delivery.webhook_id, each.delivery.id});
  }
  return result;
}

TEST(PendingSettlements, KeepsASettlementUntilItIsConfirmed) {
  PendingSettlements pending{{}};
  pending.add(settlement(1));
  EXPECT_EQ(pending.size(), 1u);
  EXPECT_TRUE(pending.contains(settlement(1).delivery.id));
  pending.confirm(settlement(1).delivery.id, start);
  EXPECT_EQ(pending.size(), 0u);
  EXPECT_FALSE(pending.store_down());
}

TEST(PendingSettlements, ResubmitsFailedSettlementsInOrderAfterAPause) {
  PendingSettlements pending{{.min = 100ms, .max = 5s}};
  for (const std::uint8_t id : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
    pending.add(settlement(id));
  }
  pending.fail(names({settlement(2), settlement(1)}), start);
  EXPECT_TRUE(pending.store_down());
  EXPECT_EQ(pending.retry_at(), start + 100ms);
  EXPECT_TRUE(pending.take_due(start + 99ms).empty());
  EXPECT_EQ(pending.take_due(start + 100ms), (std::vector{settlement(2), settlement(1)}));
  EXPECT_TRUE(pending.take_due(start + 200ms).empty());
  EXPECT_TRUE(pending.store_down());
}

TEST(PendingSettlements, PausesDoubleUpToTheMaximumAndResetAfterASuccess) {
  PendingSettlements pending{{.min = 100ms, .max = 350ms}};
  pending.add(settlement(1));
  MonoTime now = start;
  for (const Millis pause : {100ms, 200ms, 350ms, 350ms}) {
    pending.fail(names({settlement(1)}), now);
    pending.fail(names({settlement(1)}), now);  // The same outage, reported twice.
    EXPECT_EQ(pending.retry_at(), now + pause);
    now += pause;
    EXPECT_EQ(pending.take_due(now).size(), 1u);
  }
  pending.confirm(settlement(1).delivery.id, now);
  pending.add(settlement(2));
  pending.fail(names({settlement(2)}), now);
  EXPECT_EQ(pending.retry_at(), now + 100ms);
}

TEST(PendingSettlements, TheFirstConfirmationEndsTheOutage) {
  PendingSettlements pending{{}};
  pending.add(settlement(1));
  pending.add(settlement(2));
  pending.fail(names({settlement(1)}), start);
  pending.confirm(settlement(2).delivery.id, start + 1ms);
  EXPECT_FALSE(pending.store_down());
  EXPECT_EQ(pending.take_due(start + 1ms), std::vector{settlement(1)});
}

TEST(PendingSettlements, AnOutageWithoutPendingSettlementsEndsAfterItsPause) {
  PendingSettlements pending{{.min = 100ms, .max = 5s}};
  pending.fail({}, start);
  EXPECT_TRUE(pending.store_down());
  EXPECT_TRUE(pending.take_due(start + 100ms).empty());
  EXPECT_FALSE(pending.store_down());
}

TEST(PendingSettlements, ARevivalChangesAFailedSettlementUnlessItIsASuccess) {
  PendingSettlements pending{{.min = 100ms, .max = 5s}};
  pending.add(settlement(1));
  pending.add(settlement(2, DeliveryState::succeeded));
  pending.fail(names({settlement(1), settlement(2)}), start);
  const Revival revival{.due = test::epoch, .priority = Priority::low, .trigger = Trigger::manual};
  pending.revive(settlement(1).delivery.id, revival);
  pending.revive(settlement(2).delivery.id, revival);
  const std::vector<Settlement> again = pending.take_due(start + 100ms);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].delivery.state, DeliveryState::retrying);
  EXPECT_EQ(again[0].delivery.due, test::epoch);
  EXPECT_EQ(again[1].delivery.state, DeliveryState::succeeded);
}

TEST(PendingSettlements, ARevivalDoesNotChangeASubmittedSettlement) {
  PendingSettlements pending{{.min = 100ms, .max = 5s}};
  pending.add(settlement(1));
  pending.revive(settlement(1).delivery.id, Revival{.due = test::epoch});
  pending.fail(names({settlement(1)}), start);
  EXPECT_EQ(pending.take_due(start + 100ms), std::vector{settlement(1)});
}

}  // namespace
}  // namespace postrider
