// The effect of a changed retry policy on waiting deliveries.
#include <gtest/gtest.h>

#include "core/policy/retry.h"
#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

class ShardPolicy : public testing::Test {
 protected:
  /// A delivery that failed once and is due in twenty seconds.
  Delivery fail_once() {
    const Delivery delivery = driver_.admit(webhook_);
    driver_.finish_and_settle(driver_.take<StartAttempt>().at(0), answered(503));
    driver_.take<Settle>();
    Delivery waiting = delivery;
    waiting.state = DeliveryState::retrying;
    waiting.due = driver_.wall() + 20s;
    waiting.attempt_count = 1;
    waiting.budget_used = 1;
    return waiting;
  }
  void change_policy(Millis delay, std::uint32_t attempts_max = 5) {
    driver_.change_webhook(webhook_, [=](Webhook& each) {
      each.retry.delay_base = delay;
      each.retry.attempts_max = attempts_max;
    });
  }
  /// Brings the delivery forward as the store does.
  void bring_forward(Delivery delivery) {
    delivery.due = due_under(driver_.webhook(webhook_)->retry, delivery, driver_.wall());
    driver_.feed(Rescheduled{webhook_, {delivery}});
  }

  ShardDriver driver_;
  WebhookId webhook_ = driver_.add_webhook([](Webhook& each) {
    each.retry.delay_base = 20s;
    each.retry.jitter = {};
    each.retry.attempts_max = 5;
  });
};

TEST_F(ShardPolicy, OnlyAChangedScheduleReschedules) {
  driver_.change_webhook(webhook_, [](Webhook& each) {
    each.retry.timeout = 1s;
    each.paused = true;
  });
  EXPECT_TRUE(driver_.take<Reschedule>().empty());
  change_policy(1s);
  EXPECT_EQ(driver_.take<Reschedule>().at(0).webhook_id, webhook_);
}

TEST_F(ShardPolicy, AWaitingDeliveryIsBroughtForwardInMemory) {
  const Delivery waiting = fail_once();
  change_policy(1s);
  bring_forward(waiting);
  driver_.ring_after(999ms);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  driver_.ring_after(1ms);
  EXPECT_EQ(driver_.take<StartAttempt>().at(0).delivery.id, waiting.id);
}

TEST_F(ShardPolicy, ADeliveryOnlyInTheStoreIsLoadedWhenItIsDue) {
  Delivery far = driver_.make(webhook_);
  far.state = DeliveryState::retrying;
  far.attempt_count = far.budget_used = 1;
  far.due = driver_.wall() + 10h;
  driver_.feed(Rescheduled{webhook_, {}});
  EXPECT_TRUE(driver_.take<LoadLane>().empty());
  change_policy(1s);
  bring_forward(far);
  driver_.ring_after(1s);
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
}

TEST_F(ShardPolicy, IgnoresAnOutdatedReschedule) {
  const Delivery waiting = fail_once();
  driver_.ring_after(20s);
  driver_.finish_and_settle(driver_.take<StartAttempt>().at(0), answered(503));  // Again.
  driver_.feed(Rescheduled{webhook_, {waiting}});
  driver_.ring_after(39'999ms);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
}

TEST_F(ShardPolicy, ADeliveryWithoutAttemptsLeftIsGivenUp) {
  const Delivery waiting = fail_once();
  change_policy(20s, 1);
  bring_forward(waiting);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  const Settlement settled = driver_.take<Settle>().at(0).settlement;
  EXPECT_EQ(settled.delivery.id, waiting.id);
  EXPECT_EQ(settled.delivery.state, DeliveryState::dead_letter);
  EXPECT_EQ(settled.delivery.due, driver_.wall());
  EXPECT_EQ(settled.delivery.attempt_count, 1u);
  EXPECT_EQ(settled.attempt, std::nullopt);
  EXPECT_EQ(settled.dead, attempts_exceeded());
  driver_.settled(settled);
  EXPECT_EQ(driver_.view(webhook_).window_count, 0u);
  EXPECT_EQ(driver_.totals().in_flight, 0u);
}

TEST_F(ShardPolicy, WithAnOrderTheNextDeliveryFollowsOneThatIsGivenUp) {
  driver_.change_webhook(webhook_, [](Webhook& each) { each.ordering = Ordering::strict; });
  const Delivery first = fail_once();
  const Delivery second = driver_.admit(webhook_);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  change_policy(20s, 1);
  bring_forward(first);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  driver_.settled(driver_.take<Settle>().at(0).settlement);
  EXPECT_EQ(driver_.take<StartAttempt>().at(0).delivery.id, second.id);
}

TEST_F(ShardPolicy, AResubmittedSettlementUsesTheNewSchedule) {
  const Delivery delivery = driver_.admit(webhook_);
  driver_.finish(driver_.take<StartAttempt>().at(0), answered(503));
  const Settlement planned = driver_.take<Settle>().at(0).settlement;
  EXPECT_EQ(planned.delivery.due, driver_.wall() + 20s);
  change_policy(1s);
  driver_.store_failed(planned);
  driver_.ring_after(100ms);
  const Settle again = driver_.take<Settle>().at(0);
  EXPECT_TRUE(again.is_resubmission);
  EXPECT_EQ(again.settlement.delivery.due, driver_.wall() + 1s);
  driver_.settled(again.settlement);
  driver_.ring_after(1s);
  EXPECT_EQ(driver_.take<StartAttempt>().at(0).delivery.id, delivery.id);
}

}  // namespace
}  // namespace postrider
