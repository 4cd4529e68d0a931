#include "core/policy/operation_outcome.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr WallTime epoch = wall_from_unix_ms(1'767'225'600'000);

/// Three deliveries were requeued; nothing is left to be requeued.
Operation requeued_three() {
  Operation operation;
  operation.status = OperationStatus::running;
  operation.outcomes.requeued = 3;
  operation.requeue_finished_at = epoch;
  return operation;
}

TEST(OperationOutcome, EndsWithTheLastDeliveryThatSettles) {
  OutcomeChange change;
  change.add(DeliveryState::succeeded, epoch + Millis{9});
  change.add(DeliveryState::dead_letter, epoch + Millis{5});
  Operation operation = add_outcomes(requeued_three(), change);
  EXPECT_EQ(operation.status, OperationStatus::running);
  EXPECT_EQ(operation.finished_at, std::nullopt);
  EXPECT_EQ(operation.outcomes.waiting(), 1u);

  change = {};
  change.add(DeliveryState::cancelled, epoch + Millis{20});
  operation = add_outcomes(operation, change);
  EXPECT_EQ(operation.status, OperationStatus::completed);
  EXPECT_EQ(operation.finished_at, epoch + Millis{20});
  EXPECT_EQ(operation.outcomes,
            (OperationOutcomes{.requeued = 3, .succeeded = 1, .dead_again = 1, .cancelled = 1}));
}

TEST(OperationOutcome, DoesNotEndBeforeEverythingIsRequeued) {
  Operation operation = requeued_three();
  operation.requeue_finished_at.reset();
  const Operation later = add_outcomes(operation, {.succeeded = 3, .at = epoch});
  EXPECT_EQ(later.status, OperationStatus::running);
  EXPECT_EQ(later.outcomes.waiting(), 0u);
}

TEST(OperationOutcome, GoesOnCountingAfterACancellationOrAFailure) {
  for (const OperationStatus status : {OperationStatus::cancelled, OperationStatus::failed}) {
    Operation operation = requeued_three();
    operation.status = status;
    operation.finished_at = epoch;
    operation = add_outcomes(operation, {.succeeded = 3, .at = epoch + Millis{9}});
    EXPECT_EQ(operation.status, status);
    EXPECT_EQ(operation.finished_at, epoch);
    EXPECT_EQ(operation.outcomes.succeeded, 3u);
  }
}

TEST(OperationOutcome, ARepeatingOperationStaysScheduled) {
  Operation operation = requeued_three();
  operation.status = OperationStatus::scheduled;
  operation = add_outcomes(operation, {.dead_again = 3, .at = epoch + Millis{9}});
  EXPECT_EQ(operation.status, OperationStatus::scheduled);
  EXPECT_EQ(operation.finished_at, epoch + Millis{9});
}

TEST(OperationOutcome, ACancelledDeliveryMayTurnOutToHaveSucceeded) {
  Operation operation = add_outcomes(requeued_three(), {.cancelled = 3, .at = epoch});
  operation = add_outcomes(operation, {.revised = 1});
  EXPECT_EQ(operation.outcomes.succeeded, 1u);
  EXPECT_EQ(operation.outcomes.cancelled, 2u);
  // Counted by an earlier run, whose numbers are gone.
  operation.outcomes = {.requeued = 1};
  operation = add_outcomes(operation, {.revised = 1});
  EXPECT_EQ(operation.outcomes.waiting(), 1u);
}

TEST(OperationOutcome, WorkIsLeftUntilEverythingIsRequeued) {
  Operation operation = requeued_three();
  EXPECT_FALSE(has_work(operation));
  operation.requeue_finished_at.reset();
  EXPECT_TRUE(has_work(operation));
  operation.status = OperationStatus::cancelled;
  EXPECT_FALSE(has_work(operation));
  operation.status = OperationStatus::scheduled;
  operation.requeue_finished_at = epoch;  // Of the run before.
  EXPECT_TRUE(has_work(operation));
}

}  // namespace
}  // namespace postrider
