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

TEST_F(LaneTest, ADeliveryIsInOnePlaceAtATime) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  EXPECT_EQ(lane.waiting()[1], 1u);
  start(lane);
  EXPECT_EQ(lane.waiting()[1], 0u);
  EXPECT_EQ(lane.in_flight_ids(), std::vector{DeliveryId{{1}}});

  Delivery retrying = delivery(1);
  retrying.state = DeliveryState::retrying;
  retrying.due = epoch + 5s;
  lane.finish(DeliveryId{{1}}, retrying);
  EXPECT_EQ(lane.in_flight(DeliveryId{{1}}), nullptr);
  EXPECT_TRUE(lane.in_flight_ids().empty());
  EXPECT_EQ(lane.window().count(), 0u);

  lane.settle(DeliveryId{{1}}, bounds_);
  EXPECT_EQ(lane.window().count(), 1u);
  EXPECT_EQ(lane.look(now_, bounds_).wake_at, epoch + 5s);
}

TEST_F(LaneTest, RowsThatAreInFlightOrUnsettledComeAlongAndArePassedOver) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  lane.admit(delivery(2), bounds_);
  start(lane);
  start(lane);
  Delivery done = delivery(2);
  done.state = DeliveryState::succeeded;
  lane.finish(DeliveryId{{2}}, done);
  lane.store_has_more(epoch);
  const LoadLane load = lane.begin_load(bounds_);
  EXPECT_EQ(load.limit, 6u);
  EXPECT_EQ(load.due_before, epoch + 30s);
  lane.end_load(page({delivery(1), delivery(2), delivery(3)}), bounds_, now_.mono);
  EXPECT_EQ(lane.window().count(), 1u);
}

TEST_F(LaneTest, ALoadThatBringsNothingNewIsFollowedByAPause) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.store_has_more(epoch);
  EXPECT_TRUE(lane.look(now_, bounds_).load);
  (void)lane.begin_load(bounds_);
  EXPECT_FALSE(lane.look(now_, bounds_).load);  // One at a time.
  lane.end_load(page({}, epoch), bounds_, now_.mono);
  const LaneOutlook outlook = lane.look(now_, bounds_);
  EXPECT_FALSE(outlook.load);
  EXPECT_EQ(outlook.wake_mono_at, now_.mono + 100ms);
}

TEST_F(LaneTest, AFailedLoadIsTriedAgainAfterAPause) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.store_has_more(epoch);
  (void)lane.begin_load(bounds_);
  lane.fail_load(now_.mono);
  EXPECT_EQ(lane.look(now_, bounds_).wake_mono_at, now_.mono + 1s);
  now_.mono += 1s;
  EXPECT_TRUE(lane.look(now_, bounds_).load);
}

TEST_F(LaneTest, APausedLaneForgetsWhatWaitsAndReadsItAgainWhenItGoesOn) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  lane.change(webhook([](Webhook& each) { each.paused = true; }), now_.mono);
  const LaneOutlook paused = lane.look(now_, bounds_);
  EXPECT_TRUE(paused.offer.all.none());
  EXPECT_FALSE(paused.load);
  EXPECT_EQ(paused.wake_at, std::nullopt);
  EXPECT_EQ(lane.window().count(), 0u);
  lane.change(webhook(), now_.mono);
  EXPECT_TRUE(lane.look(now_, bounds_).load);
}

TEST_F(LaneTest, AChangeOfOrderReadsTheLaneAgainAndCountsWhatIsInFlight) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  lane.admit(delivery(2), bounds_);
  start(lane);
  lane.change(webhook([](Webhook& each) { each.ordering = Ordering::strict; }), now_.mono);
  EXPECT_TRUE(lane.look(now_, bounds_).load);
  EXPECT_EQ(lane.begin_load(bounds_).ordering, Ordering::strict);
  lane.end_load(page({delivery(1), delivery(2)}), bounds_, now_.mono);
  EXPECT_TRUE(lane.look(now_, bounds_).offer.all.none());  // The first is still in flight.
  Delivery done = delivery(1);
  done.state = DeliveryState::succeeded;
  lane.finish(done.id, done);
  lane.settle(done.id, bounds_);
  EXPECT_TRUE(lane.look(now_, bounds_).offer.all.any());
}

TEST_F(LaneTest, APageReadInAnOrderThatNoLongerHoldsIsThrownAway) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.store_has_more(epoch);
  (void)lane.begin_load(bounds_);
  lane.change(webhook([](Webhook& each) { each.ordering = Ordering::strict; }), now_.mono);
  lane.end_load(page({delivery(7)}), bounds_, now_.mono);
  EXPECT_EQ(lane.window().count(), 0u);
  EXPECT_TRUE(lane.look(now_, bounds_).load);
}

TEST_F(LaneTest, ARevivalOfAWaitingDeliveryReplacesIt) {
  Lane lane{0, 0, webhook(), now_.mono};
  Delivery later_due = delivery(1);
  later_due.due = epoch + 20s;
  lane.admit(later_due, bounds_);
  EXPECT_TRUE(lane.look(now_, bounds_).offer.all.none());
  Delivery revived = delivery(1);
  revived.priority = Priority::high;
  lane.admit(revived, bounds_);
  EXPECT_EQ(lane.window().count(), 1u);
  EXPECT_EQ(lane.waiting(), (std::array<std::uint32_t, 3>{1, 0, 0}));
  EXPECT_NE(lane.next(Priority::high, Candidates::all, epoch), nullptr);
}

TEST_F(LaneTest, AnAbandonedAttemptIsNotBegunAgainAtOnce) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  start(lane);
  lane.abandon(DeliveryId{{1}}, bounds_);
  EXPECT_EQ(lane.in_flight_count(), 0u);
  const LaneOutlook outlook = lane.look(now_, bounds_);
  EXPECT_TRUE(outlook.offer.all.none());
  EXPECT_EQ(outlook.wake_at, epoch + 1s);
}

TEST_F(LaneTest, ACancelledDeliveryThatIsAbandonedIsGone) {
  Lane lane{0, 0, webhook(), now_.mono};
  lane.admit(delivery(1), bounds_);
  start(lane);
  lane.cancel(DeliveryId{{1}});
  lane.abandon(DeliveryId{{1}}, bounds_);
  EXPECT_TRUE(lane.empty());
}

TEST_F(LaneTest, ARevivedDeliveryThatIsAbandonedIsTheRevivedOne) {
  Lane lane{0, 0, webhook(), now_.mono};
  Delivery tired = delivery(1);
  tired.attempt_count = 3;
  tired.budget_used = 3;
  lane.admit(tired, bounds_);
  start(lane);
  Delivery revived = tired;
  revived.budget_used = 0;
  revived.trigger = Trigger::manual;
  revived.priority = Priority::high;
  lane.admit(revived, bounds_);
  lane.abandon(DeliveryId{{1}}, bounds_);
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
  lane.finish(retrying.id, retrying);
  lane.settle(retrying.id, bounds_);
  EXPECT_TRUE(lane.empty());
}

TEST_F(LaneTest, AChangedRateTakesOverWithoutGivingTokens) {
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
