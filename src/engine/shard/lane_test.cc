#include "engine/shard/lane.h"

#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::epoch;

class LaneTest : public testing::Test {
 protected:
  std::shared_ptr<const Webhook> webhook(const std::function<void(Webhook&)>& tweak = {}) const {
    auto made = std::make_shared<Webhook>();
    made->id = WebhookId{{1}};
    made->breaker.enabled = false;
    if (tweak) {
      tweak(*made);
    }
    return made;
  }
  static Delivery delivery(std::uint8_t number) {
    Delivery made;
    made.id = DeliveryId{{number}};
    made.webhook_id = WebhookId{{1}};
    made.sequence = number;
    made.due = epoch;
    return made;
  }
  Entry& start(Lane& lane) const {
    Entry* entry = lane.next(Priority::normal, Candidates::all, epoch);
    EXPECT_NE(entry, nullptr);
    lane.start(*entry, now_.mono);
    return *entry;
  }
  static LaneLoaded page(std::vector<Delivery> rows, std::optional<WallTime> rest_due = {}) {
    return {.webhook_id = WebhookId{{1}}, .deliveries = std::move(rows), .rest_due = rest_due};
  }

  Moment now_{epoch, MonoTime{1s}};
  WindowBounds bounds_{.now = epoch, .count_max = 4, .load_ahead = 30s};
};

TEST_F(LaneTest, ADeliveryHasOneStageAtATime) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  EXPECT_EQ(lane.waiting()[1], 1u);
  start(lane);
  EXPECT_EQ(lane.waiting()[1], 0u);
  EXPECT_EQ(lane.in_flight_ids(), std::vector{DeliveryId{{1}}});

  Delivery retrying = delivery(1);
  retrying.state = DeliveryState::retrying;
  retrying.due = epoch + 5s;
  lane.finish(DeliveryId{{1}}, retrying, false, MonoTime{});
  EXPECT_EQ(lane.in_flight(DeliveryId{{1}}), nullptr);
  EXPECT_TRUE(lane.in_flight_ids().empty());
  EXPECT_EQ(lane.window().count(), 0u);

  lane.settle(DeliveryId{{1}}, bounds_);
  EXPECT_EQ(lane.window().count(), 1u);
  EXPECT_EQ(lane.evaluate(now_, bounds_).wake_at, epoch + 5s);
}

TEST_F(LaneTest, SkipsLoadedRowsThatAreInFlightOrUnsettled) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  lane.admit(delivery(2), bounds_);
  start(lane);
  start(lane);
  Delivery done = delivery(2);
  done.state = DeliveryState::succeeded;
  lane.finish(DeliveryId{{2}}, done, false, MonoTime{});
  lane.store_has_more(epoch);
  const LoadLane load = lane.begin_load(bounds_);
  EXPECT_EQ(load.limit, 6u);
  EXPECT_EQ(load.due_before, epoch + 30s);
  lane.end_load(page({delivery(1), delivery(2), delivery(3)}), bounds_, now_.mono);
  EXPECT_EQ(lane.window().count(), 1u);
}

TEST_F(LaneTest, PausesAfterALoadWithoutNewRows) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.store_has_more(epoch);
  EXPECT_TRUE(lane.evaluate(now_, bounds_).load);
  (void)lane.begin_load(bounds_);
  EXPECT_FALSE(lane.evaluate(now_, bounds_).load);  // One at a time.
  lane.end_load(page({}, epoch), bounds_, now_.mono);
  const LaneReadiness readiness = lane.evaluate(now_, bounds_);
  EXPECT_FALSE(readiness.load);
  EXPECT_EQ(readiness.wake_mono_at, now_.mono + 100ms);
}

TEST_F(LaneTest, AFailedLoadIsRetriedAfterAPause) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.store_has_more(epoch);
  (void)lane.begin_load(bounds_);
  lane.fail_load(now_.mono);
  EXPECT_EQ(lane.evaluate(now_, bounds_).wake_mono_at, now_.mono + 1s);
  now_.mono += 1s;
  EXPECT_TRUE(lane.evaluate(now_, bounds_).load);
}

TEST_F(LaneTest, APausedLaneForgetsWaitingDeliveriesAndReloadsThem) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  lane.change(webhook([](Webhook& each) { each.paused = true; }), now_.mono);
  const LaneReadiness paused = lane.evaluate(now_, bounds_);
  EXPECT_TRUE(paused.ready.all.none());
  EXPECT_FALSE(paused.load);
  EXPECT_EQ(paused.wake_at, std::nullopt);
  EXPECT_EQ(lane.window().count(), 0u);
  lane.change(webhook(), now_.mono);
  EXPECT_TRUE(lane.evaluate(now_, bounds_).load);
}

TEST_F(LaneTest, AChangedOrderingReloadsTheLaneAndCountsAttemptsInFlight) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  lane.admit(delivery(2), bounds_);
  start(lane);
  lane.change(webhook([](Webhook& each) { each.ordering = Ordering::strict; }), now_.mono);
  EXPECT_TRUE(lane.evaluate(now_, bounds_).load);
  EXPECT_EQ(lane.begin_load(bounds_).ordering, Ordering::strict);
  lane.end_load(page({delivery(1), delivery(2)}), bounds_, now_.mono);
  EXPECT_TRUE(lane.evaluate(now_, bounds_).ready.all.none());  // The first is still in flight.
  Delivery done = delivery(1);
  done.state = DeliveryState::succeeded;
  lane.finish(done.id, done, false, MonoTime{});
  lane.settle(done.id, bounds_);
  EXPECT_TRUE(lane.evaluate(now_, bounds_).ready.all.any());
}

TEST_F(LaneTest, DiscardsAPageReadInTheOldOrdering) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.store_has_more(epoch);
  (void)lane.begin_load(bounds_);
  lane.change(webhook([](Webhook& each) { each.ordering = Ordering::strict; }), now_.mono);
  lane.end_load(page({delivery(7)}), bounds_, now_.mono);
  EXPECT_EQ(lane.window().count(), 0u);
  EXPECT_TRUE(lane.evaluate(now_, bounds_).load);
}

TEST_F(LaneTest, ARevivalReplacesAWaitingDelivery) {
  Lane lane{0, 0, webhook(), now_.mono};
  Delivery later_due = delivery(1);
  later_due.due = epoch + 20s;
  lane.admit(later_due, bounds_);
  EXPECT_TRUE(lane.evaluate(now_, bounds_).ready.all.none());
  Delivery revived = delivery(1);
  revived.priority = Priority::high;
  lane.admit(revived, bounds_);
  EXPECT_EQ(lane.window().count(), 1u);
  EXPECT_EQ(lane.waiting(), (std::array<std::uint32_t, 3>{1, 0, 0}));
  EXPECT_NE(lane.next(Priority::high, Candidates::all, epoch), nullptr);
}

TEST_F(LaneTest, AnAbandonedAttemptIsRestartedAfterAPause) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  start(lane);
  lane.abandon(DeliveryId{{1}}, 0.5, bounds_);
  EXPECT_EQ(lane.in_flight_count(), 0u);
  const LaneReadiness readiness = lane.evaluate(now_, bounds_);
  EXPECT_TRUE(readiness.ready.all.none());
  EXPECT_EQ(readiness.wake_at, epoch + 1s) << "between 500 and 1,500 ms";
}

TEST_F(LaneTest, AnAbandonedCancelledDeliveryIsRemoved) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  start(lane);
  lane.cancel(DeliveryId{{1}});
  lane.abandon(DeliveryId{{1}}, 0.5, bounds_);
  EXPECT_TRUE(lane.empty());
}

TEST_F(LaneTest, AnAbandonedDeliveryTakesOverItsRevival) {
  Lane lane{0, 0, webhook(), now_.mono};
  Delivery exhausted = delivery(1);
  exhausted.attempt_count = 3;
  exhausted.budget_used = 3;
  lane.admit(exhausted, bounds_);
  start(lane);
  Delivery revived = exhausted;
  revived.budget_used = 0;
  revived.revivals = 1;
  revived.trigger = Trigger::manual;
  revived.priority = Priority::high;
  lane.admit(revived, bounds_);
  lane.abandon(DeliveryId{{1}}, 0.5, bounds_);
  const Entry* entry = lane.next(Priority::high, Candidates::first_attempts, epoch + 1s);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->delivery.budget_used, 0u);
  EXPECT_EQ(entry->delivery.attempt_count, 3u);
}

TEST_F(LaneTest, ARemovedLaneIsEmptyWhenItsLastAttemptIsSettled) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  lane.admit(delivery(2), bounds_);
  start(lane);
  lane.remove();
  EXPECT_FALSE(lane.empty());
  Delivery retrying = delivery(1);
  retrying.state = DeliveryState::retrying;
  lane.finish(retrying.id, retrying, false, MonoTime{});
  lane.settle(retrying.id, bounds_);
  EXPECT_TRUE(lane.empty());
}

TEST_F(LaneTest, AChangedRateGrantsNoExtraTokens) {
  const auto limited = [&](std::uint32_t burst) {
    return webhook([=](Webhook& each) {
      each.rate_limit = RateLimit{.count = 1, .period = 1s, .burst = burst};
    });
  };
  Lane lane{0, 0, limited(1), now_.mono};
  lane.admit(delivery(1), bounds_);
  start(lane);
  EXPECT_EQ(lane.rate_limited_until(now_.mono), now_.mono + 1s);
  lane.change(limited(10), now_.mono);
  EXPECT_EQ(lane.rate_limited_until(now_.mono), now_.mono + 1s);
  lane.change(webhook(), now_.mono);
  EXPECT_EQ(lane.rate_limited_until(now_.mono), std::nullopt);
}

}  // namespace
}  // namespace postrider
