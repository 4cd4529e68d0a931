// Moving the due times of waiting deliveries forward after a change of the retry policy, in steps.
#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

RetryPolicy quick() {
  RetryPolicy policy;
  policy.delay_base = Millis{1'000};
  policy.multiplier = 1.0;
  policy.jitter = {};
  policy.attempts_max = 3;
  return policy;
}

BringForward order(WebhookId id, std::uint32_t limit) {
  return {.webhook_id = id, .policy = quick(), .now = store_epoch, .after = {}, .limit = limit};
}

}  // namespace

TEST_P(ReschedulingContract, MovesOnlyDeliveriesThatWaitTooLong) {
  const Delivery soon = accept(first_);
  settle(script_.retry(soon, store_epoch + Millis{999}));
  const Delivery late = accept(first_);
  settle(script_.retry(late, store_epoch + Millis{500'000}));
  const Delivery other = accept(second_);
  settle(script_.retry(other, store_epoch + Millis{500'000}));

  const BroughtForward step = bring_forward(order(first_, 10));
  ASSERT_EQ(step.moved.size(), 1u);
  EXPECT_EQ(step.moved[0].id, late.id);
  EXPECT_EQ(step.moved[0].due, store_epoch + Millis{1'000});
  EXPECT_EQ(step.moved[0], record(late.id).delivery);
  EXPECT_EQ(step.next, std::nullopt);
  EXPECT_EQ(record(soon.id).delivery.due, store_epoch + Millis{999});
  EXPECT_EQ(record(other.id).delivery.due, store_epoch + Millis{500'000});
  EXPECT_TRUE(bring_forward(order(first_, 10)).moved.empty());
}

TEST_P(ReschedulingContract, DeliveryWithoutAnAttemptIsDueAtOnce) {
  accept(first_, {.due_in = Millis{500'000}});
  EXPECT_EQ(bring_forward(order(first_, 10)).moved.at(0).due, store_epoch);
}

TEST_P(ReschedulingContract, DeliveryThatHasUsedAllAttemptsIsDueAtOnce) {
  Delivery delivery = accept(first_);
  for (int attempt = 0; attempt < 3; ++attempt) {
    settle(script_.retry(delivery, store_epoch + Millis{500'000}));
    delivery = record(delivery.id).delivery;
  }
  EXPECT_EQ(bring_forward(order(first_, 10)).moved.at(0).due, store_epoch);
}

TEST_P(ReschedulingContract, StepsVisitEachDeliveryOfEachPriorityOnce) {
  std::size_t waiting = 0;
  for (const Priority priority : {Priority::low, Priority::high, Priority::normal}) {
    for (int i = 0; i < 5; ++i, ++waiting) {
      const Delivery delivery = accept(first_, {.priority = priority});
      settle(script_.retry(delivery, store_epoch + Millis{500'000 + i / 2}));
    }
  }
  ASSERT_TRUE(catalog().mark_rescheduling(first_).has_value());
  BringForward walk = order(first_, 2);
  std::vector<std::size_t> moved;
  for (;;) {
    const BroughtForward step = bring_forward(walk);
    moved.push_back(step.moved.size());
    if (!step.next) {
      break;
    }
    EXPECT_EQ(*catalog().load_rescheduling(), std::vector<WebhookId>{first_});
    walk.after = step.next;
    ASSERT_LT(moved.size(), 20u);
  }
  EXPECT_EQ(moved, (std::vector<std::size_t>{2, 2, 2, 2, 2, 2, 2, 1}));
  EXPECT_TRUE(catalog().load_rescheduling()->empty());
  const LanePage page = load({.webhook_id = first_,
                              .ordering = Ordering::none,
                              .due_before = store_epoch + Millis{1'001},
                              .limit = 100});
  EXPECT_EQ(page.deliveries.size(), waiting);
}

TEST_P(ReschedulingContract, MarkStaysUntilTheLastStepOrTheRemovalOfTheWebhook) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(second_)).has_value());
  ASSERT_TRUE(catalog().mark_rescheduling(second_).has_value());
  ASSERT_TRUE(catalog().mark_rescheduling(first_).has_value());
  ASSERT_TRUE(catalog().mark_rescheduling(first_).has_value());
  EXPECT_EQ(*catalog().load_rescheduling(), (std::vector<WebhookId>{first_, second_}));
  EXPECT_EQ(bring_forward(order(first_, 10)).next, std::nullopt);
  ASSERT_TRUE(catalog().remove_webhook(second_, script_.now).has_value());
  EXPECT_TRUE(catalog().load_rescheduling()->empty());
}

}  // namespace postrider::test
