// P4: with an order, the first delivery holds the others until it has succeeded or was given up.
#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

class ShardOrder : public testing::Test {
 protected:
  WebhookId add(Ordering ordering) {
    return driver_.add_webhook([=](Webhook& each) {
      each.ordering = ordering;
      each.retry.delay_base = 10s;
    });
  }
  Delivery admit(WebhookId webhook, const std::string& type) {
    return driver_.admit(webhook, [&](Delivery& delivery) { delivery.event_type = type; });
  }
  StartAttempt start() { return driver_.take<StartAttempt>().at(0); }

  ShardDriver driver_;
};

TEST_F(ShardOrder, StrictSendsOneAtATimeAndWaitsForTheSettlement) {
  const WebhookId webhook = add(Ordering::strict);
  const Delivery first = admit(webhook, "a");
  const Delivery second = admit(webhook, "b");
  const std::vector<StartAttempt> started = driver_.take<StartAttempt>();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].delivery.id, first.id);
  driver_.finish(started[0], answered(200));
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());  // A crash now would send the first again.
  driver_.settled(driver_.take<Settle>().at(0).settlement);
  EXPECT_EQ(start().delivery.id, second.id);
}

TEST_F(ShardOrder, StrictWaitsWhileTheFirstDeliveryIsRetried) {
  const WebhookId webhook = add(Ordering::strict);
  const Delivery first = admit(webhook, "a");
  const Delivery second = admit(webhook, "b");
  driver_.finish_and_settle(start(), answered(503));
  admit(webhook, "c");
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  EXPECT_EQ(driver_.view(webhook).blocked, BlockReason::order);
  EXPECT_EQ(driver_.view(webhook).blocked_until, driver_.wall() + 10s);
  driver_.ring_after(10s);
  const StartAttempt again = start();
  EXPECT_EQ(again.delivery.id, first.id);
  driver_.finish_and_settle(again, answered(200));
  EXPECT_EQ(start().delivery.id, second.id);
}

TEST_F(ShardOrder, ARetryDueMuchLaterStillHoldsTheOthers) {
  const WebhookId webhook = driver_.add_webhook([](Webhook& each) {
    each.ordering = Ordering::strict;
    each.retry.delay_base = 2h;
  });
  const Delivery first = driver_.admit(webhook);
  driver_.admit(webhook);
  driver_.finish_and_settle(start(), answered(503));
  driver_.ring_after(1h);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  driver_.ring_after(1h);
  EXPECT_EQ(start().delivery.id, first.id);
}

TEST_F(ShardOrder, StrictContinuesAfterADeadLetterOrACancel) {
  const WebhookId webhook = add(Ordering::strict);
  admit(webhook, "a");
  const Delivery second = admit(webhook, "a");
  const Delivery third = admit(webhook, "a");
  driver_.finish_and_settle(start(), answered(404));
  const StartAttempt started = start();
  EXPECT_EQ(started.delivery.id, second.id);
  driver_.finish_and_settle(started, answered(503));
  driver_.feed(DeliveryCancelled{webhook, second.id});
  EXPECT_EQ(start().delivery.id, third.id);
}

TEST_F(ShardOrder, PerEventTypeHoldsOnlyTheSameType) {
  const WebhookId webhook = add(Ordering::per_event_type);
  const Delivery a1 = admit(webhook, "a");
  admit(webhook, "a");
  const Delivery b1 = admit(webhook, "b");
  const std::vector<StartAttempt> started = driver_.take<StartAttempt>();
  ASSERT_EQ(started.size(), 2u);
  EXPECT_EQ(started[0].delivery.id, a1.id);
  EXPECT_EQ(started[1].delivery.id, b1.id);
  driver_.finish_and_settle(started[0], answered(503));
  const Delivery b2 = admit(webhook, "b");
  driver_.finish_and_settle(started[1], answered(200));
  EXPECT_EQ(driver_.take_started(), std::vector{b2.id});
}

TEST_F(ShardOrder, AtStartupNothingIsSentBeforeTheBacklogIsLoaded) {
  auto webhook = std::make_shared<Webhook>();
  webhook->id = WebhookId{{1}};
  webhook->ordering = Ordering::strict;
  const Delivery older = driver_.make(webhook->id);
  driver_.feed(WebhookChanged{.webhook = webhook, .circuit = {}, .backlog_due = driver_.wall()});
  const LoadLane load = driver_.take<LoadLane>().at(0);
  EXPECT_EQ(load.ordering, Ordering::strict);
  EXPECT_EQ(load.limit, ShardOptions{}.window_max);
  const Delivery newer = driver_.admit(webhook->id);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  driver_.load(webhook->id, {older, newer});
  EXPECT_EQ(start().delivery.id, older.id);
}

TEST_F(ShardOrder, AnEarlierRetryIsSentBeforeLaterDeliveriesAfterAPause) {
  const WebhookId webhook = add(Ordering::strict);
  const Delivery first = admit(webhook, "a");
  const Delivery second = admit(webhook, "a");
  driver_.finish(start(), answered(503));
  const Settlement retry = driver_.take<Settle>().at(0).settlement;
  driver_.change_webhook(webhook, [](Webhook& each) { each.paused = true; });
  driver_.settled(retry);
  driver_.change_webhook(webhook, [](Webhook& each) { each.paused = false; });
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
  driver_.load(webhook, {retry.delivery, second});
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  driver_.ring_after(10s);
  EXPECT_EQ(start().delivery.id, first.id);
}

TEST_F(ShardOrder, ARevivedDeliveryIsNotOvertaken) {
  const WebhookId webhook = add(Ordering::strict);
  const Delivery first = admit(webhook, "a");
  const Delivery second = admit(webhook, "a");
  driver_.finish(start(), answered(503));
  Delivery revived = first;
  revived.trigger = Trigger::manual;
  revived.attempt_count = 1;
  revived.revivals = 1;
  driver_.feed(Admitted{{revived}});
  driver_.settled(driver_.take<Settle>().at(0).settlement);
  EXPECT_TRUE(driver_.take<StartAttempt>().empty());
  EXPECT_EQ(driver_.take<LoadLane>().size(), 1u);
  driver_.load(webhook, {revived, second});
  EXPECT_EQ(start().delivery.id, first.id);
}

}  // namespace
}  // namespace postrider
