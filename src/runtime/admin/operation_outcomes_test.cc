// What a store counts while an operation runs, and when the operation is completed.
#include "runtime/admin/operation_runner_world_test.h"

namespace postrider {
namespace {

TEST_F(OperationRunnerTest, CompletesOnceEverythingItRequeuedHasSettled) {
  add_dead_letters(1, 5);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  ASSERT_TRUE(has_requeued(1));
  EXPECT_EQ(harness_->loop.next_due(), std::nullopt) << "nothing polls";
  settle_waiting(DeliveryState::succeeded, 3);
  settle_waiting(DeliveryState::dead_letter, 1);
  EXPECT_EQ(stored(1).status, OperationStatus::running);
  harness_->clock.advance(1h);
  settle_waiting(DeliveryState::succeeded, 1);
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
  EXPECT_EQ(stored(1).finished_at, ManualClock::start + 1h);
  EXPECT_EQ(stored(1).outcomes,
            (OperationOutcomes{.requeued = 5, .succeeded = 4, .dead_again = 1}));
}

TEST_F(OperationRunnerTest, CountsTheOutcomeOfAReplayToo) {
  publish(0);
  add_dead_letters(1, 1);
  OperationSpec spec = spec_for(1);
  spec.filter.states = {DeliveryState::dead_letter};
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::replay, 1, spec)).has_value());
  harness_->advance(1s);
  settle_waiting(DeliveryState::succeeded, 2);
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
  EXPECT_EQ(stored(1).outcomes, (OperationOutcomes{.requeued = 2, .succeeded = 2}));
}

TEST_F(OperationRunnerTest, ACancellationStopsRequeueingButNotCounting) {
  add_dead_letters(1, 600);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  ASSERT_TRUE(cancel(operation_id(1)).has_value());
  harness_->advance(1h);
  settle_waiting(DeliveryState::succeeded, chunk_max);
  EXPECT_EQ(stored(1).status, OperationStatus::cancelled);
  EXPECT_EQ(stored(1).outcomes, (OperationOutcomes{.requeued = chunk_max, .succeeded = chunk_max}));
}

TEST_F(OperationRunnerTest, CanBeCancelledWhileItWaitsForOutcomes) {
  add_dead_letters(1, 1);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  ASSERT_TRUE(has_requeued(1));
  ASSERT_TRUE(cancel(operation_id(1)).has_value());
  settle_waiting(DeliveryState::succeeded, 1);
  EXPECT_EQ(stored(1).status, OperationStatus::cancelled);
  EXPECT_EQ(stored(1).outcomes.succeeded, 1u);
}

TEST_F(OperationRunnerTest, OneThatOnlyWaitsTakesNoPlace) {
  start();
  for (std::uint8_t number = 1; number <= unfinished_max; ++number) {
    Operation waiting = make_operation(OperationKind::retry_batch, number);
    waiting.status = OperationStatus::running;
    waiting.started_at = waiting.requeue_finished_at = ManualClock::start;
    waiting.outcomes.requeued = 1;
    const std::lock_guard lock{memory_.mutex};
    memory_.operations[waiting.id] = waiting;
  }
  end();
  start();
  runner_->resume(*make_memory_operation_writer(memory_)->load_unfinished());
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 101)).has_value());
  EXPECT_EQ(stored(101).status, OperationStatus::completed);
}

}  // namespace
}  // namespace postrider
