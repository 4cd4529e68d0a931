#include "runtime/admin/operation_runner.h"

#include <set>

#include "runtime/admin/operation_runner_world_test.h"

namespace postrider {
namespace {

// ---------------------------------------------------------------- the kinds of operations

TEST_F(OperationRunnerTest, RetriesDeadLettersInChunksWithPauses) {
  add_dead_letters(1, 600);
  start();
  harness_->metrics->dead_letters_changed("acme", 600);
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  EXPECT_EQ(stored(1).status, OperationStatus::running);
  EXPECT_EQ(stored(1).total, 600u);
  EXPECT_EQ(stored(1).done, chunk_max);
  EXPECT_EQ(take_admitted().size(), chunk_max);
  harness_->advance(chunk_pause - 1ms);
  EXPECT_EQ(stored(1).done, chunk_max) << "not before the pause is over";
  harness_->advance(1ms);
  EXPECT_EQ(stored(1).done, 2 * chunk_max);
  harness_->advance(chunk_pause);
  EXPECT_EQ(stored(1).done, 600u);
  EXPECT_TRUE(has_requeued(1));
  EXPECT_EQ(count(DeliveryState::pending), 600u);
  EXPECT_EQ(take_admitted().size(), 600 - chunk_max);
  EXPECT_TRUE(harness_->has_metric("webhook_dlq_size{tenant_id=\"acme\"} 0"));
  EXPECT_TRUE(harness_->has_metric("postrider_deliveries_waiting 600"));
}

TEST_F(OperationRunnerTest, RetriesOnlyWhatItsFilterSelects) {
  add_dead_letters(1, 3);
  add_dead_letters(2, 4);
  publish(2);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1, spec_for(2))).has_value());
  EXPECT_EQ(stored(1).done, 4u);
  EXPECT_EQ(count(DeliveryState::dead_letter), 3u);
  for (const Delivery& delivery : take_admitted()) {
    EXPECT_EQ(delivery.webhook_id, webhook_id(2));
    EXPECT_EQ(delivery.trigger, Trigger::manual);
  }
}

TEST_F(OperationRunnerTest, DiscardsDeadLettersAndTellsTheLanes) {
  add_dead_letters(1, 3);
  start();
  harness_->metrics->dead_letters_changed("acme", 3);
  ASSERT_TRUE(add(make_operation(OperationKind::discard, 1)).has_value());
  EXPECT_EQ(stored(1).done, 3u);
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
  EXPECT_EQ(count(DeliveryState::cancelled), 3u);
  EXPECT_TRUE(harness_->has_metric("webhook_dlq_size{tenant_id=\"acme\"} 0"));
  std::size_t cancelled = 0;
  for (const Input& input : harness_->take_inputs()) {
    cancelled += std::holds_alternative<DeliveryCancelled>(input) ? 1 : 0;
  }
  EXPECT_EQ(cancelled, 3u);
}

TEST_F(OperationRunnerTest, ReplaysMissedAndSelectedEventsToOneWebhook) {
  for (int i = 0; i < 300; ++i) {
    publish(0);
    publish(0, "user.created");  // Not for this webhook.
  }
  add_dead_letters(1, 2);
  publish(1);  // Waits already.
  OperationSpec spec = spec_for(1);
  spec.filter.states = {DeliveryState::dead_letter};
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::replay, 1, spec)).has_value());
  harness_->advance(1s);
  EXPECT_EQ(stored(1).total, 302u);
  EXPECT_EQ(stored(1).done, 302u);
  EXPECT_TRUE(has_requeued(1));
  const std::vector<Delivery> admitted = take_admitted();
  EXPECT_EQ(admitted.size(), 302u);
  std::set<DeliveryId> ids;
  for (const Delivery& delivery : admitted) {
    EXPECT_EQ(delivery.webhook_id, webhook_id(1));
    EXPECT_EQ(delivery.event_type, "order.paid");
    EXPECT_EQ(delivery.trigger, Trigger::replay);
    ids.insert(delivery.id);
  }
  EXPECT_EQ(ids.size(), 302u) << "every late delivery has an id of its own";
}

TEST_F(OperationRunnerTest, CompletesAtOnceWithNothingToDo) {
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
  EXPECT_EQ(stored(1).total, 0u);
}

TEST_F(OperationRunnerTest, PublishesWhatItDoesToTheLiveStream) {
  add_dead_letters(1, 2);
  auto subscription = hub_.subscribe({.tenant_id = "acme"}, std::nullopt, [] {});
  ASSERT_TRUE(subscription.has_value());
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  const StreamHub::Batch seen = (*subscription)->take();
  ASSERT_EQ(seen.items.size(), 2u);
  const StreamEvent& first = *seen.items.front().stream_event;
  EXPECT_EQ(first.at, ManualClock::start);
  EXPECT_EQ(std::get<DeliveryUpdate>(first.what).delivery.state, DeliveryState::pending);
}

// ---------------------------------------------------------------- pacing and turns

TEST_F(OperationRunnerTest, KeepsToItsRate) {  // P7
  add_dead_letters(1, 30);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1, spec_for(1, 10))).has_value());
  EXPECT_EQ(stored(1).done, 0u);
  harness_->advance(100ms);
  EXPECT_EQ(stored(1).done, 1u);
  harness_->advance(1s);
  EXPECT_EQ(stored(1).done, 11u);
  harness_->advance(2s);
  EXPECT_EQ(stored(1).done, 30u);
  EXPECT_TRUE(has_requeued(1));
}

TEST_F(OperationRunnerTest, RunsEightAtATimeAndStartsTheNextWhenOneEnds) {
  for (std::uint8_t number = 1; number <= 10; ++number) {
    add_dead_letters(number, number == 1 ? 10 : 20);
  }
  start();
  for (std::uint8_t number = 1; number <= 10; ++number) {
    ASSERT_TRUE(
        add(make_operation(OperationKind::retry_batch, number, spec_for(number, 1))).has_value());
  }
  EXPECT_EQ(stored(8).status, OperationStatus::running);
  EXPECT_EQ(stored(9).status, OperationStatus::scheduled);
  harness_->advance(9s);
  EXPECT_EQ(stored(9).status, OperationStatus::scheduled);
  harness_->advance(1s);
  EXPECT_TRUE(has_requeued(1));
  EXPECT_EQ(stored(9).status, OperationStatus::running) << "the end of one lets the next start";
  EXPECT_EQ(stored(10).status, OperationStatus::scheduled);
  ASSERT_TRUE(cancel(operation_id(2)).has_value());
  EXPECT_EQ(stored(10).status, OperationStatus::running) << "so does a cancellation";
}

TEST_F(OperationRunnerTest, WaitsForItsStartTime) {
  add_dead_letters(1, 1);
  OperationSpec spec = spec_for(1);
  spec.start_at = ManualClock::start + 1h;
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1, spec)).has_value());
  harness_->advance(1h - 1ms);
  EXPECT_EQ(stored(1).status, OperationStatus::scheduled);
  harness_->advance(1ms);
  EXPECT_TRUE(has_requeued(1));
}

TEST_F(OperationRunnerTest, NoticesWithinHalfAMinuteThatTheWallClockWasSetForward) {
  add_dead_letters(1, 1);
  OperationSpec spec = spec_for(1);
  spec.start_at = ManualClock::start + 24h;
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1, spec)).has_value());
  harness_->clock.jump_wall(25h);
  harness_->advance(30s);
  EXPECT_TRUE(has_requeued(1));
}

TEST_F(OperationRunnerTest, FindsRecentDeadLettersAfterTheWallClockWasSetBack) {  // P9
  add_dead_letters(1, 1);
  start();
  harness_->clock.jump_wall(-1h);
  Operation operation = make_operation(OperationKind::retry_batch, 1);
  operation.due = harness_->clock.now().wall;
  ASSERT_TRUE(add(operation).has_value());
  EXPECT_EQ(stored(1).done, 1u);
}

TEST_F(OperationRunnerTest, RepeatsAfterItsPeriod) {
  add_dead_letters(1, 2);
  OperationSpec spec = spec_for(1);
  spec.repeat_every = 60s;
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::discard, 1, spec)).has_value());
  EXPECT_EQ(stored(1).status, OperationStatus::scheduled);
  EXPECT_EQ(stored(1).runs, 1u);
  EXPECT_EQ(stored(1).done, 2u);
  harness_->advance(59s);
  EXPECT_EQ(stored(1).runs, 1u);
  harness_->advance(1s);
  EXPECT_EQ(stored(1).runs, 2u);
  EXPECT_EQ(stored(1).total, 0u);
  ASSERT_TRUE(cancel(operation_id(1)).has_value());
  harness_->advance(1h);
  EXPECT_EQ(stored(1).runs, 2u);
  EXPECT_EQ(stored(1).status, OperationStatus::cancelled);
}

// ---------------------------------------------------------------- adding and cancelling

TEST_F(OperationRunnerTest, StoresAnOperationWithItsAuditEntryAndRequestKey) {
  start();
  const RequestKey key{
      .caller = "key_1", .key = "once", .digest = "d", .expires_at = ManualClock::start + 1h};
  Operation operation = make_operation(OperationKind::retry_batch, 1);
  ASSERT_TRUE(add(operation, key).has_value());
  ASSERT_EQ(memory_.audit.size(), 1u);
  EXPECT_EQ(memory_.audit.front().entry.action, "operation.create");
  operation.id = operation_id(2);
  EXPECT_EQ(add(operation, key).error().code, Errc::conflict);
  EXPECT_EQ(memory_.operations.size(), 1u);
  EXPECT_EQ(memory_.audit.size(), 1u);
}

TEST_F(OperationRunnerTest, RefusesMoreThanAHundredUnfinishedOperations) {
  start();
  OperationSpec spec;
  spec.start_at = ManualClock::start + 1h;
  for (std::uint8_t number = 1; number <= unfinished_max; ++number) {
    ASSERT_TRUE(add(make_operation(OperationKind::discard, number, spec)).has_value());
  }
  EXPECT_EQ(add(make_operation(OperationKind::discard, 101, spec)).error().code, Errc::conflict);
  ASSERT_TRUE(cancel(operation_id(7)).has_value());
  EXPECT_TRUE(add(make_operation(OperationKind::discard, 101, spec)).has_value());
}

TEST_F(OperationRunnerTest, CommitsNothingAfterACancellation) {
  add_dead_letters(1, 600);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  const Result<Operation> cancelled = cancel(operation_id(1));
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_EQ(cancelled->status, OperationStatus::cancelled);
  harness_->advance(1h);
  EXPECT_EQ(stored(1).status, OperationStatus::cancelled);
  EXPECT_EQ(stored(1).done, chunk_max);
  EXPECT_EQ(count(DeliveryState::dead_letter), 600u - chunk_max);
  EXPECT_EQ(memory_.audit.back().entry.action, "operation.cancel");
  EXPECT_EQ(harness_->loop.next_due(), std::nullopt) << "nothing waits for it";
}

TEST_F(OperationRunnerTest, DropsAChunkThatACancellationOvertakes) {
  add_dead_letters(1, 600);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  // The cancellation is stored, but the runner does not know of it when its timer fires.
  {
    const std::lock_guard lock{memory_.mutex};
    memory_.operations.at(operation_id(1)).status = OperationStatus::cancelled;
  }
  harness_->advance(1s);
  EXPECT_EQ(stored(1).done, chunk_max);
  EXPECT_EQ(count(DeliveryState::dead_letter), 600u - chunk_max);
  EXPECT_EQ(harness_->loop.next_due(), std::nullopt);
}

TEST_F(OperationRunnerTest, RefusesToCancelUnknownAndEndedOperations) {
  start();
  EXPECT_EQ(cancel(operation_id(1)).error().code, Errc::not_found);
  ASSERT_TRUE(add(make_operation(OperationKind::discard, 1)).has_value());
  EXPECT_EQ(cancel(operation_id(1)).error().code, Errc::conflict);
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
}

// ---------------------------------------------------------------- removed and disabled webhooks

TEST_F(OperationRunnerTest, CountsDeadLettersOfARemovedWebhookAsFailed) {
  add_dead_letters(1, 2);
  add_dead_letters(2, 300);  // More than a chunk. They stay dead, and are visited once.
  start();
  remove_webhook(2);
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  harness_->advance(1s);
  EXPECT_TRUE(has_requeued(1));
  EXPECT_EQ(stored(1).done, 2u);
  EXPECT_EQ(stored(1).failed, 300u);
  EXPECT_EQ(stored(1).total, 302u);
}

TEST_F(OperationRunnerTest, AReplayFailsOnceItsWebhookIsRemoved) {
  for (int i = 0; i < 600; ++i) {
    publish(0);
  }
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::replay, 1, spec_for(1))).has_value());
  harness_->advance(2 * scan_pause);
  EXPECT_EQ(stored(1).done, chunk_max);
  remove_webhook(1);
  harness_->advance(1s);
  EXPECT_EQ(stored(1).status, OperationStatus::failed);
  EXPECT_EQ(stored(1).done, chunk_max);
  EXPECT_NE(stored(1).error.find("deleted"), std::string::npos);
}

TEST_F(OperationRunnerTest, AReplayFailsIfItsWebhookIsSwitchedOff) {
  publish(0);
  Webhook off = memory_.webhooks.at(webhook_id(1));
  off.active = false;
  directory_ = directory_.with(std::make_shared<const Webhook>(off));
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::replay, 1, spec_for(1))).has_value());
  EXPECT_EQ(stored(1).status, OperationStatus::failed);
  EXPECT_NE(stored(1).error.find("switched off"), std::string::npos);
  EXPECT_EQ(stored(1).done, 0u);
}

// ---------------------------------------------------------------- failures, stop and restart

TEST_F(OperationRunnerTest, RepeatsAChunkThatTheStoreLostAfterAPause) {
  add_dead_letters(1, 300);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  EXPECT_EQ(stored(1).done, chunk_max);
  harness_->store_fails = true;
  harness_->advance(1s);
  EXPECT_EQ(stored(1).done, chunk_max);
  harness_->store_fails = false;
  harness_->advance(chunk_pause + failure_pause - 1s - 1ms);
  EXPECT_EQ(stored(1).done, chunk_max) << "it pauses after a failure";
  harness_->advance(1ms);
  EXPECT_EQ(stored(1).done, 300u);
  EXPECT_TRUE(has_requeued(1));
  for (const auto& [sequence, record] : memory_.deliveries) {
    EXPECT_EQ(record.delivery.revivals, 1u);
  }
}

TEST_F(OperationRunnerTest, ReadsAPageAgainAfterAReaderFailed) {
  add_dead_letters(1, 2);
  publish(0);
  start();
  harness_->readers_fail = true;
  ASSERT_TRUE(add(make_operation(OperationKind::discard, 1)).has_value());
  ASSERT_TRUE(add(make_operation(OperationKind::replay, 2, spec_for(1))).has_value());
  EXPECT_EQ(stored(1).total, std::nullopt);
  harness_->readers_fail = false;
  harness_->advance(failure_pause - 1ms);
  EXPECT_EQ(stored(1).total, std::nullopt);
  harness_->advance(1ms);
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
  EXPECT_EQ(stored(1).done, 2u);
  EXPECT_EQ(stored(2).done, 1u);
}

TEST_F(OperationRunnerTest, CountsFromTheStartAgainAfterTheTotalWasLost) {
  add_dead_letters(1, 5);
  start();
  harness_->on_store([&](Store& store, RepliesByShard& replies) -> Result<void> {
    const AuditEntry entry{.at = harness_->clock.now().wall};
    return runner_
        ->add({store, replies, entry}, make_operation(OperationKind::discard, 1), {}, std::nullopt)
        .map([](const Operation&) {});
  });
  ASSERT_TRUE(
      harness_->loop.run_until([this] { return stored(1).status == OperationStatus::running; }));
  harness_->store_fails = true;
  harness_->settle();
  EXPECT_EQ(stored(1).total, std::nullopt);
  harness_->store_fails = false;
  harness_->advance(failure_pause);
  EXPECT_EQ(stored(1).total, 5u);
  EXPECT_EQ(stored(1).done, 5u);
}

TEST_F(OperationRunnerTest, ContinuesWhereItWasAfterARestart) {
  add_dead_letters(1, 600);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  EXPECT_EQ(stored(1).done, chunk_max);
  end();
  start();
  runner_->resume({stored(1)});
  harness_->advance(1s);
  EXPECT_TRUE(has_requeued(1));
  EXPECT_EQ(stored(1).total, 600u);
  EXPECT_EQ(stored(1).done, 600u);
  EXPECT_EQ(stored(1).skipped, 0u);
  EXPECT_EQ(take_admitted().size(), 600u - chunk_max);
}

TEST_F(OperationRunnerTest, ARestartDoesNotExceedTheRate) {  // P7
  add_dead_letters(1, 30);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1, spec_for(1, 1))).has_value());
  harness_->advance(1s);
  EXPECT_EQ(stored(1).done, 1u);
  end();
  start();
  runner_->resume({stored(1)});
  harness_->advance(999ms);
  EXPECT_EQ(stored(1).done, 1u);
  harness_->advance(1ms);
  EXPECT_EQ(stored(1).done, 2u);
}

TEST_F(OperationRunnerTest, StartsNothingAfterStop) {  // P10
  add_dead_letters(1, 600);
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1)).has_value());
  runner_->stop();
  harness_->settle();
  EXPECT_EQ(harness_->loop.next_due(), std::nullopt) << "no timer is left";
  ASSERT_TRUE(add(make_operation(OperationKind::discard, 2)).has_value());
  harness_->advance(1h);
  EXPECT_EQ(stored(1).status, OperationStatus::running) << "the next start continues it";
  EXPECT_EQ(stored(1).done, chunk_max);
  EXPECT_EQ(stored(2).status, OperationStatus::scheduled);
  EXPECT_EQ(harness_->loop.next_due(), std::nullopt) << "no timer is left";
}

}  // namespace
}  // namespace postrider
