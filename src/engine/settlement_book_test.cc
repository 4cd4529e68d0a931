#include "engine/settlement_book.h"

#include <gtest/gtest.h>

#include "engine/shard_driver_test.h"

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

TEST(SettlementBook, KeepsASettlementUntilItIsConfirmed) {
  SettlementBook book{{}};
  book.add(settlement(1));
  EXPECT_EQ(book.size(), 1u);
  EXPECT_TRUE(book.contains(settlement(1).delivery.id));
  book.confirm(settlement(1).delivery.id, start);
  EXPECT_EQ(book.size(), 0u);
  EXPECT_FALSE(book.store_down());
}

TEST(SettlementBook, AsksAgainForWhatFailedInItsOrderAfterAPause) {
  SettlementBook book{{.min = 100ms, .max = 5s}};
  for (const std::uint8_t id : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
    book.add(settlement(id));
  }
  book.fail(names({settlement(2), settlement(1)}), start);
  EXPECT_TRUE(book.store_down());
  EXPECT_EQ(book.retry_at(), start + 100ms);
  EXPECT_TRUE(book.take_due(start + 99ms).empty());
  EXPECT_EQ(book.take_due(start + 100ms), (std::vector{settlement(2), settlement(1)}));
  EXPECT_TRUE(book.take_due(start + 200ms).empty());
  EXPECT_TRUE(book.store_down());
}

TEST(SettlementBook, ThePauseDoublesUpToItsMaximumAndStartsAnewAfterASuccess) {
  SettlementBook book{{.min = 100ms, .max = 350ms}};
  book.add(settlement(1));
  MonoTime now = start;
  for (const Millis pause : {100ms, 200ms, 350ms, 350ms}) {
    book.fail(names({settlement(1)}), now);
    book.fail(names({settlement(1)}), now);  // The same outage, told twice.
    EXPECT_EQ(book.retry_at(), now + pause);
    now += pause;
    EXPECT_EQ(book.take_due(now).size(), 1u);
  }
  book.confirm(settlement(1).delivery.id, now);
  book.add(settlement(2));
  book.fail(names({settlement(2)}), now);
  EXPECT_EQ(book.retry_at(), now + 100ms);
}

TEST(SettlementBook, TheFirstConfirmationEndsTheOutageForAll) {
  SettlementBook book{{}};
  book.add(settlement(1));
  book.add(settlement(2));
  book.fail(names({settlement(1)}), start);
  book.confirm(settlement(2).delivery.id, start + 1ms);
  EXPECT_FALSE(book.store_down());
  EXPECT_EQ(book.take_due(start + 1ms), std::vector{settlement(1)});
}

TEST(SettlementBook, AnOutageThatOwesNothingEndsWithItsPause) {
  SettlementBook book{{.min = 100ms, .max = 5s}};
  book.fail({}, start);
  EXPECT_TRUE(book.store_down());
  EXPECT_TRUE(book.take_due(start + 100ms).empty());
  EXPECT_FALSE(book.store_down());
}

TEST(SettlementBook, ARevivalChangesWhatIsAskedForAgainButNotASuccess) {
  SettlementBook book{{.min = 100ms, .max = 5s}};
  book.add(settlement(1));
  book.add(settlement(2, DeliveryState::succeeded));
  book.fail(names({settlement(1), settlement(2)}), start);
  const Revival revival{.due = test::epoch, .priority = Priority::low, .trigger = Trigger::manual};
  book.revive(settlement(1).delivery.id, revival);
  book.revive(settlement(2).delivery.id, revival);
  const std::vector<Settlement> again = book.take_due(start + 100ms);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].delivery.state, DeliveryState::retrying);
  EXPECT_EQ(again[0].delivery.due, test::epoch);
  EXPECT_EQ(again[1].delivery.state, DeliveryState::succeeded);
}

TEST(SettlementBook, WhatIsOnItsWayToTheStoreIsNotChangedByARevival) {
  SettlementBook book{{.min = 100ms, .max = 5s}};
  book.add(settlement(1));
  book.revive(settlement(1).delivery.id, Revival{.due = test::epoch});
  book.fail(names({settlement(1)}), start);
  EXPECT_EQ(book.take_due(start + 100ms), std::vector{settlement(1)});
}

}  // namespace
}  // namespace postrider
