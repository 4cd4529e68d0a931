// Outcomes: a store counts what becomes of the deliveries of an operation, in the transaction in
// which they settle.
#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

const DeadReason gone{Classification::permanent, "permanent_client_error_404"};

}  // namespace

/// Operations that have requeued everything.
class Outcomes {
 public:
  explicit Outcomes(OperationWriter& operations) : operations_(operations) {}

  OperationId add(std::uint64_t requeued) {
    Operation operation;
    operation.id = ids_.make<OperationId>(store_epoch);
    operation.status = OperationStatus::running;
    operation.created_at = operation.due = store_epoch;
    operation.started_at = operation.requeue_finished_at = store_epoch;
    operation.outcomes.requeued = requeued;
    EXPECT_TRUE(operations_.put(operation).has_value());
    return operation.id;
  }

 private:
  OperationWriter& operations_;
  UuidGenerator ids_{3};
};

TEST_P(OperationsContract, EveryDeliveryOfAnOperationCountsOnce) {
  const OperationId id = Outcomes{operations()}.add(4);
  std::vector<Delivery> revived;
  for (int i = 0; i < 4; ++i) {
    const Delivery dead = accept(first_);
    const Settlement death = script_.death(dead, gone);
    settle(death);
    const Result<Delivery> order =
        revive({.delivery_id = dead.id, .now = script_.now, .operation = id});
    ASSERT_TRUE(order.has_value());
    EXPECT_TRUE(order->in_operation);
    EXPECT_EQ(record(dead.id).delivery, *order);
    revived.push_back(*order);
  }
  store_->reopen();
  EXPECT_EQ(operations().find(id)->outcomes.waiting(), 4u);
  settle(script_.retry(revived[0], script_.now));
  EXPECT_EQ(operations().find(id)->outcomes.waiting(), 4u) << "it is still waiting";
  const Settlement success = script_.success(record(revived[0].id).delivery);
  settle(success);
  settle(success);  // Repeated after a lost answer.
  settle(script_.death(revived[1], gone));
  script_.now += Millis{500};
  ASSERT_TRUE(cancel(revived[2].id).has_value());
  const OperationOutcomes so_far{.requeued = 4, .succeeded = 1, .dead_again = 1, .cancelled = 1};
  EXPECT_EQ(operations().find(id)->outcomes, so_far);
  EXPECT_EQ(operations().find(id)->status, OperationStatus::running);
  store_->reopen();
  const Settlement last = script_.success(record(revived[3].id).delivery);
  settle(last);
  const Operation ended = *operations().find(id);
  EXPECT_EQ(ended.status, OperationStatus::completed);
  EXPECT_EQ(ended.finished_at, settled_at(last));
  EXPECT_EQ(ended.outcomes.succeeded, 2u);
  EXPECT_EQ(ended.outcomes.waiting(), 0u);
}

TEST_P(OperationsContract, ALateDeliveryCountsForItsOperation) {
  const OperationId id = Outcomes{operations()}.add(1);
  const Publish missed = script_.publish({});
  commit({.publishes = {missed}});
  AddLateDelivery order = script_.add_late_delivery(missed.event.id, first_);
  order.operation = id;
  order.delivery.in_operation = true;
  const BatchReceipt receipt = commit({.late_deliveries = {order}});
  ASSERT_TRUE(receipt.late_deliveries.front().has_value());
  EXPECT_TRUE(record(order.delivery.id).delivery.in_operation);
  settle(script_.death(*receipt.late_deliveries.front(), gone));
  EXPECT_EQ(operations().find(id)->outcomes.dead_again, 1u);
  EXPECT_EQ(operations().find(id)->status, OperationStatus::completed);
}

TEST_P(OperationsContract, AFinalDeliveryBelongsToTheLastThatRevivedIt) {
  Outcomes outcomes{operations()};
  const OperationId first = outcomes.add(1);
  const OperationId second = outcomes.add(1);
  const Delivery delivery = accept(first_);
  settle(script_.death(delivery, gone));
  for (const OperationId id : {first, second}) {
    const Result<Delivery> order =
        revive({.delivery_id = delivery.id, .now = script_.now, .operation = id});
    ASSERT_TRUE(order.has_value());
    settle(script_.death(*order, gone));
  }
  const Result<Delivery> by_hand = revive({.delivery_id = delivery.id, .now = script_.now});
  ASSERT_TRUE(by_hand.has_value());
  EXPECT_FALSE(by_hand->in_operation);
  settle(script_.success(*by_hand));
  for (const OperationId id : {first, second}) {
    EXPECT_EQ(operations().find(id)->outcomes, (OperationOutcomes{.requeued = 1, .dead_again = 1}));
  }
}

TEST_P(OperationsContract, AWaitingDeliveryStaysWithItsOperationWhenItIsRetriedByHand) {
  Outcomes outcomes{operations()};
  const OperationId first = outcomes.add(1);
  const OperationId second = outcomes.add(0);
  const Delivery delivery = accept(first_);
  settle(script_.death(delivery, gone));
  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now, .operation = first}));
  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now}));
  const Result<Delivery> waiting =
      revive({.delivery_id = delivery.id, .now = script_.now, .operation = second});
  ASSERT_TRUE(waiting.has_value());
  EXPECT_TRUE(waiting->in_operation);
  settle(script_.success(*waiting));
  EXPECT_EQ(operations().find(first)->outcomes.succeeded, 1u);
  EXPECT_EQ(operations().find(second)->outcomes, OperationOutcomes{});
}

TEST_P(OperationsContract, ASuccessOfAnEarlierLifeCountsForTheOperationThatRevivedItSince) {
  const OperationId id = Outcomes{operations()}.add(1);
  const Delivery delivery = accept(first_);
  const Settlement in_flight = script_.success(delivery);
  ASSERT_TRUE(cancel(delivery.id).has_value());
  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now, .operation = id}));
  settle(in_flight);
  EXPECT_EQ(record(delivery.id).delivery.state, DeliveryState::succeeded);
  EXPECT_EQ(operations().find(id)->outcomes.succeeded, 1u);
  EXPECT_EQ(operations().find(id)->status, OperationStatus::completed);
}

TEST_P(OperationsContract, ACancelledDeliveryThatHadSucceededIsCountedAsSucceeded) {
  const OperationId id = Outcomes{operations()}.add(1);
  const Delivery delivery = accept(first_);
  settle(script_.death(delivery, gone));
  const Result<Delivery> revived =
      revive({.delivery_id = delivery.id, .now = script_.now, .operation = id});
  ASSERT_TRUE(revived.has_value());
  ASSERT_TRUE(cancel(delivery.id).has_value());
  EXPECT_EQ(operations().find(id)->outcomes.cancelled, 1u);
  settle(script_.success(*revived));
  EXPECT_EQ(operations().find(id)->outcomes, (OperationOutcomes{.requeued = 1, .succeeded = 1}));
}

TEST_P(OperationsContract, ADiscardedDeadLetterStaysCountedAsDead) {
  const OperationId id = Outcomes{operations()}.add(1);
  const Delivery delivery = accept(first_);
  settle(script_.death(delivery, gone));
  const Result<Delivery> revived =
      revive({.delivery_id = delivery.id, .now = script_.now, .operation = id});
  ASSERT_TRUE(revived.has_value());
  settle(script_.death(*revived, gone));
  const BatchReceipt receipt = commit(
      {.cancels = {{.delivery_id = delivery.id, .now = script_.now, .of = CancelOf::dead_letter}}});
  ASSERT_TRUE(receipt.cancels.front().has_value());
  EXPECT_FALSE(receipt.cancels.front()->in_operation);
  settle(script_.success(*revived));
  EXPECT_EQ(operations().find(id)->outcomes, (OperationOutcomes{.requeued = 1, .dead_again = 1}));
}

TEST_P(OperationsContract, DeliveriesOfARemovedWebhookAreCountedAsCancelled) {
  const OperationId id = Outcomes{operations()}.add(2);
  for (int i = 0; i < 2; ++i) {
    const Delivery delivery = accept(first_);
    settle(script_.death(delivery, gone));
    ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now, .operation = id}));
  }
  accept(first_);  // Belongs to no operation.
  EXPECT_EQ(catalog().cancel_waiting(first_, script_.now, 1)->total(), 1);
  EXPECT_EQ(operations().find(id)->status, OperationStatus::running);
  EXPECT_EQ(catalog().cancel_waiting(first_, script_.now, 9)->total(), 2);
  const Operation ended = *operations().find(id);
  EXPECT_EQ(ended.status, OperationStatus::completed);
  EXPECT_EQ(ended.outcomes, (OperationOutcomes{.requeued = 2, .cancelled = 2}));
}

TEST_P(OperationsContract, TheOutcomeOfARemovedOperationIsIgnored) {
  OperationId unknown;
  unknown.bytes[15] = 9;
  const Delivery delivery = accept(first_);
  settle(script_.death(delivery, gone));
  const Result<Delivery> revived =
      revive({.delivery_id = delivery.id, .now = script_.now, .operation = unknown});
  ASSERT_TRUE(revived.has_value());
  settle(script_.success(*revived));
  EXPECT_EQ(operations().find(unknown).error().code, Errc::not_found);
}

}  // namespace postrider::test
