#include "engine/admin/operation_step.h"

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime epoch = wall_from_unix_ms(1'767'225'600'000);
constexpr MonoTime start{1'000'000us};

Moment at(Micros later = 0us) {
  return {epoch + std::chrono::duration_cast<Millis>(later), start + later};
}

Operation scheduled(OperationKind kind = OperationKind::retry_batch) {
  Operation operation;
  operation.kind = kind;
  operation.due = epoch;
  operation.created_at = epoch;
  return operation;
}

Operation running(OperationKind kind = OperationKind::retry_batch) {
  return set_total(start_run(scheduled(kind), epoch), 10, epoch);
}

DeliveryRecord dead(std::uint8_t number, std::uint32_t revivals = 0) {
  DeliveryRecord record;
  record.delivery.id.bytes[15] = number;
  record.delivery.webhook_id.bytes[15] = number;
  record.delivery.sequence = number;
  record.delivery.state = DeliveryState::dead_letter;
  record.delivery.revivals = revivals;
  return record;
}

WebhookRef webhook(std::uint8_t number) {
  Webhook made;
  made.id.bytes[15] = number;
  made.events = {*EventPattern::parse("order.*")};
  return std::make_shared<const Webhook>(made);
}

template <class Step>
bool is(const OperationStep& step) {
  return std::holds_alternative<Step>(step);
}

// ---------------------------------------------------------------- next step

TEST(OperationStep, WaitsForItsStartThenCountsAndRuns) {
  const Pace pace = make_pace({}, start);
  Operation operation = scheduled();
  operation.due = epoch + 5s;
  EXPECT_EQ(std::get<WaitForStart>(next_step(operation, pace, at())).at, epoch + 5s);
  EXPECT_TRUE(is<Begin>(next_step(operation, pace, at(5s))));
  operation = start_run(operation, epoch + 5s);
  EXPECT_EQ(operation.status, OperationStatus::running);
  EXPECT_EQ(operation.started_at, epoch + 5s);
  EXPECT_TRUE(is<CountTotal>(next_step(operation, pace, at(5s))));
  operation = set_total(operation, 7, epoch + 5s);
  EXPECT_EQ(std::get<TakeChunk>(next_step(operation, pace, at(5s))).limit, chunk_max);
}

TEST(OperationStep, IsDoneOnceItHasEnded) {
  const Pace pace = make_pace({}, start);
  for (const Operation& over : {finish_run(running(), epoch), fail_run(running(), "Gone.", epoch),
                                cancel_run(running(), epoch)}) {
    EXPECT_TRUE(is<Done>(next_step(over, pace, at(1h))));
    EXPECT_EQ(over.finished_at, epoch);
  }
}

TEST(OperationStep, IsDoneOnceEverythingIsRequeuedButNotCompletedBeforeItHasSettled) {
  Operation operation = running();
  operation.outcomes.requeued = 2;
  operation = finish_run(operation, epoch + 1s);
  EXPECT_TRUE(is<Done>(next_step(operation, make_pace({}, start), at(1h))));
  EXPECT_EQ(operation.status, OperationStatus::running);
  EXPECT_EQ(operation.requeue_finished_at, epoch + 1s);
  EXPECT_EQ(operation.finished_at, std::nullopt);
}

TEST(OperationStep, PausesBetweenChunks) {
  Pace pace = make_pace({}, start);
  charge(pace, 250, start);
  EXPECT_EQ(std::get<WaitForPace>(next_step(running(), pace, at())).at, start + chunk_pause);
  EXPECT_TRUE(is<TakeChunk>(next_step(running(), pace, at(chunk_pause))));
}

TEST(OperationStep, CompletesAtOnceIfThereIsNothingToDo) {
  const Operation over = set_total(start_run(scheduled(), epoch), 0, epoch + 1s);
  EXPECT_EQ(over.status, OperationStatus::completed);
  EXPECT_EQ(over.finished_at, epoch + 1s);
  EXPECT_EQ(over.total, 0u);
}

TEST(OperationStep, ScanningUsesNoTokens) {
  Pace pace = make_pace({.filter = {}, .requests_per_second = 2}, start);
  const Micros later = 10s;
  for (Micros now = later; now < later + 1s; now += scan_pause) {
    charge(pace, 0, start + now);  // A page of events that do not match.
    EXPECT_EQ(std::get<WaitForPace>(next_step(running(), pace, at(now))).at,
              start + now + scan_pause);
    const auto step = std::get<TakeChunk>(next_step(running(), pace, at(now + scan_pause)));
    ASSERT_EQ(step.limit, chunk_max);
    ASSERT_EQ(step.actions_max, 1u);
  }
  charge(pace, 1, start + 20s);
  EXPECT_EQ(std::get<WaitForPace>(next_step(running(), pace, at(20s + chunk_pause))).at,
            start + 20s + 500ms);
}

TEST(OperationStep, RespectsItsRate) {
  Pace pace = make_pace({.filter = {}, .requests_per_second = 10}, start);
  EXPECT_EQ(std::get<WaitForPace>(next_step(running(), pace, at())).at, start + 100ms);
  EXPECT_EQ(std::get<TakeChunk>(next_step(running(), pace, at(100ms))).limit, 1u);
  // The burst is one at ten per second: unused tokens do not add up.
  EXPECT_EQ(std::get<TakeChunk>(next_step(running(), pace, at(10s))).limit, 1u);
  charge(pace, 1, start + 10s);
  EXPECT_EQ(std::get<WaitForPace>(next_step(running(), pace, at(10s + chunk_pause))).at,
            start + 10s + 100ms);

  const Pace fast = make_pace({.filter = {}, .requests_per_second = 1'000}, start);
  EXPECT_EQ(std::get<TakeChunk>(next_step(running(), fast, at(20ms))).limit, 20u);
  EXPECT_EQ(std::get<TakeChunk>(next_step(running(), fast, at(10s))).limit, 50u);
}

TEST(OperationStep, ARepeatedOperationIsScheduledFromItsDueTime) {
  Operation operation = scheduled();
  operation.spec.repeat_every = 60s;
  operation = finish_run(set_total(start_run(operation, epoch + 1s), 3, epoch + 2s), epoch + 10s);
  EXPECT_EQ(operation.status, OperationStatus::scheduled);
  EXPECT_EQ(operation.due, epoch + 60s);
  EXPECT_EQ(operation.runs, 1u);
  EXPECT_EQ(operation.total, 3u);  // Kept for display.
  operation.done = 3;
  operation = start_run(operation, epoch + 60s);
  EXPECT_EQ(operation.done, 0u);
  EXPECT_EQ(operation.total, std::nullopt);
  operation = finish_run(operation, epoch + 500s);
  EXPECT_EQ(operation.due, epoch + 500s);  // Missed runs are skipped.
}

TEST(OperationStep, DeliveriesThatStillWaitCountOnInTheNextRun) {
  Operation operation = scheduled();
  operation.spec.repeat_every = 60s;
  operation = start_run(operation, epoch);
  operation.outcomes = {.requeued = 5, .succeeded = 1, .dead_again = 1, .cancelled = 1};
  operation = finish_run(operation, epoch + 1s);
  EXPECT_EQ(operation.status, OperationStatus::scheduled) << "it does not wait for them";
  operation = start_run(operation, epoch + 60s);
  EXPECT_EQ(operation.outcomes, OperationOutcomes{.requeued = 2});
  EXPECT_EQ(operation.requeue_finished_at, std::nullopt);
}

// ---------------------------------------------------------------- chunks

TEST(OperationStep, ActsOnWhatExistedWhenItStarted) {
  Operation operation = scheduled();
  operation.spec.filter.to = epoch + 10s;
  EXPECT_EQ(dead_letters_of(start_run(operation, epoch + 5s)).to, epoch + 5s + 1ms);
  EXPECT_EQ(dead_letters_of(start_run(operation, epoch + 15s)).to, epoch + 10s);
  EXPECT_EQ(dead_letters_of(start_run(operation, epoch)).states,
            std::vector{DeliveryState::dead_letter});
  const EventFilter events = events_of(start_run(operation, epoch + 5s), *webhook(1));
  EXPECT_EQ(events.to, epoch + 5s + 1ms);
  EXPECT_EQ(events.tenant_id, TenantId{});
}

TEST(OperationStep, RevivesADeadLetterUnlessItsWebhookIsGone) {
  Operation operation = running();
  operation.spec.priority = Priority::high;
  const Directory directory{{webhook(7)}};
  const ChunkPlan plan = plan_dead_letters(operation, {.items = {dead(9), dead(7, 2)}, .next = 7},
                                           {.directory = directory, .now = at()});
  EXPECT_EQ(plan.failed, 1u);
  EXPECT_EQ(plan.place, 7);
  EXPECT_FALSE(plan.last);
  ASSERT_EQ(plan.batch.revivals.size(), 1u);
  const Revive& order = plan.batch.revivals.front();
  EXPECT_EQ(order.delivery_id, dead(7).delivery.id);
  EXPECT_EQ(order.priority, Priority::high);
  EXPECT_EQ(order.trigger, Trigger::manual);
  EXPECT_EQ(order.only_if->state, DeliveryState::dead_letter);
  EXPECT_EQ(order.only_if->revivals, 2u);
  EXPECT_EQ(order.operation, operation.id);
}

TEST(OperationStep, DiscardingNeedsNoWebhook) {
  const Directory nobody;
  const ChunkPlan plan =
      plan_dead_letters(running(OperationKind::discard), {.items = {dead(9)}, .next = std::nullopt},
                        {.directory = nobody, .now = at()});
  ASSERT_EQ(plan.batch.cancels.size(), 1u);
  EXPECT_EQ(plan.batch.cancels.front().of, CancelOf::dead_letter);
  EXPECT_TRUE(plan.last);
}

TEST(OperationStep, StopsAtTheActionLimitAndContinuesFromThere) {
  const Operation operation = running();
  const Directory directory{{webhook(7), webhook(5), webhook(4)}};
  const Listed<DeliveryRecord> page{.items = {dead(9), dead(7), dead(5), dead(4)}, .next = {}};
  const auto plan = [&](std::size_t actions_max) {
    return plan_dead_letters(operation, page,
                             {.directory = directory, .now = at(), .actions_max = actions_max});
  };
  EXPECT_EQ(plan(1).action_count(), 1u);
  EXPECT_EQ(plan(1).failed, 1u);  // Not an action.
  EXPECT_EQ(plan(1).place, 7);
  EXPECT_FALSE(plan(1).last);
  EXPECT_EQ(plan(2).place, 5);
  EXPECT_EQ(plan(3).place, 4);
  EXPECT_TRUE(plan(3).last);
}

TEST(OperationStep, AReplayRevivesRequestedStatesAndAddsMissingDeliveries) {
  Operation operation = running(OperationKind::replay);
  operation.spec.filter.states = {DeliveryState::dead_letter};
  const WebhookRef receiver = webhook(1);
  const auto item = [](std::string type, std::optional<DeliveryState> state) {
    EventForWebhook made;
    made.sequence = 70;
    made.event.type = std::move(type);
    made.event.priority = Priority::low;
    made.event.trace = TraceContext{.trace_id = {{9}}, .parent = {}};
    if (state) {
      made.delivery = dead(3);
      made.delivery->delivery.state = *state;
    }
    return made;
  };
  const auto tested = [](EventForWebhook made) {
    made.event.source = test_source;
    return made;
  };
  const std::function<Uuid()> new_uuid = [] { return Uuid{42}; };
  const Listed<EventForWebhook> page{
      .items = {item("order.paid", {}), item("user.born", {}),
                item("order.paid", DeliveryState::dead_letter),
                item("order.paid", DeliveryState::succeeded),
                item("order.paid", DeliveryState::retrying), tested(item("order.paid", {}))},
      .next = std::nullopt};
  const ChunkPlan plan =
      plan_replay(operation, page, {.webhook = *receiver, .new_uuid = new_uuid, .now = at()});
  EXPECT_EQ(plan.action_count(), 2u);
  EXPECT_EQ(count_replayed(operation, page, *receiver), 2u);
  ASSERT_EQ(plan.batch.late_deliveries.size(), 1u);
  const Delivery& late = plan.batch.late_deliveries.front().delivery;
  EXPECT_EQ(late.id, DeliveryId{Uuid{42}});
  EXPECT_EQ(late.webhook_id, receiver->id);
  EXPECT_EQ(late.priority, Priority::low);
  EXPECT_EQ(late.trigger, Trigger::replay);
  EXPECT_EQ(late.due, at().steady);
  EXPECT_TRUE(late.in_operation);
  EXPECT_EQ(late.trace, (TraceMark{{{9}}, false}));
  EXPECT_EQ(plan.batch.late_deliveries.front().operation, operation.id);
  ASSERT_EQ(plan.batch.revivals.size(), 1u);
  EXPECT_EQ(plan.batch.revivals.front().trigger, Trigger::replay);
  EXPECT_EQ(plan.batch.revivals.front().operation, operation.id);

  const Listed<EventForWebhook> foreign{.items = {item("user.born", {})}, .next = 70};
  const ChunkPlan idle =
      plan_replay(operation, foreign, {.webhook = *receiver, .new_uuid = new_uuid, .now = at()});
  EXPECT_TRUE(idle.is_idle());
  EXPECT_EQ(idle.place, 70);
}

TEST(OperationStep, AReplayReadsTheRequestedTypesOrThoseOfTheWebhook) {
  Operation operation = running(OperationKind::replay);
  EXPECT_EQ(events_of(operation, *webhook(1)).types, std::vector<std::string>{"order.*"});
  operation.spec.filter.event_types = {"order.paid"};
  EXPECT_EQ(events_of(operation, *webhook(1)).types, std::vector<std::string>{"order.paid"});
}

TEST(OperationStep, CountsDoneSkippedAndFailed) {
  ChunkPlan plan;
  plan.batch.revivals.resize(3);
  plan.batch.late_deliveries.resize(2);
  plan.failed = 1;
  plan.place = 99;
  BatchReceipt receipt;
  receipt.revivals = {Delivery{}, fail(Errc::conflict, "Moved on."), Delivery{}};
  receipt.late_deliveries = {std::nullopt, Delivery{}};
  Operation operation = after_chunk(running(), plan, receipt, epoch + 1s);
  EXPECT_EQ(operation.done, 3u);
  EXPECT_EQ(operation.outcomes.requeued, 3u);
  EXPECT_EQ(operation.skipped, 2u);
  EXPECT_EQ(operation.failed, 1u);
  EXPECT_EQ(operation.place, 99);
  EXPECT_EQ(operation.status, OperationStatus::running);
  plan.last = true;
  operation = after_chunk(operation, plan, receipt, epoch + 1s);
  EXPECT_EQ(operation.status, OperationStatus::running);
  EXPECT_EQ(operation.requeue_finished_at, epoch + 1s);
  EXPECT_EQ(operation.done, 6u);
  EXPECT_EQ(operation.total, 12u);  // More than were counted.
}

TEST(OperationStep, ADiscardRequeuesNothing) {
  ChunkPlan plan;
  plan.batch.cancels.resize(10);
  plan.last = true;
  BatchReceipt receipt;
  receipt.cancels.assign(10, Delivery{});
  const Operation over = after_chunk(running(OperationKind::discard), plan, receipt, epoch + 1s);
  EXPECT_EQ(over.done, 10u);
  EXPECT_EQ(over.outcomes, OperationOutcomes{});
  EXPECT_EQ(over.status, OperationStatus::completed);
}

TEST(OperationStep, CountedItemsThatVanishAreSkipped) {
  ChunkPlan plan;
  plan.last = true;
  const Operation over = after_chunk(running(), plan, {}, epoch + 1s);
  EXPECT_EQ(over.total, 10u);
  EXPECT_EQ(over.done, 0u);
  EXPECT_EQ(over.skipped, 10u);
}

TEST(OperationStep, AtTheEndEverythingCountedIsDoneSkippedOrFailed) {
  SplitMix64 random{20'260'101};
  for (int round = 0; round < 2'000; ++round) {
    const std::uint64_t counted_at_first = 1 + random.next() % 40;
    Operation operation = set_total(start_run(scheduled(), epoch), counted_at_first, epoch);
    const std::uint64_t chunks = 1 + random.next() % 8;
    for (std::uint64_t chunk = 1; chunk <= chunks; ++chunk) {
      ChunkPlan plan;
      plan.batch.revivals.resize(random.next() % 12);
      plan.failed = random.next() % 3;
      plan.last = chunk == chunks;
      BatchReceipt receipt;
      for (std::size_t i = 0; i < plan.batch.revivals.size(); ++i) {
        receipt.revivals.push_back(random.next() % 4 == 0
                                       ? Result<Delivery>{fail(Errc::conflict, "Moved on.")}
                                       : Result<Delivery>{Delivery{}});
      }
      operation = after_chunk(operation, plan, receipt, epoch);
      ASSERT_LE(operation.done + operation.skipped + operation.failed, *operation.total);
    }
    ASSERT_EQ(operation.requeue_finished_at, epoch);
    ASSERT_EQ(operation.outcomes.requeued, operation.done);
    ASSERT_EQ(operation.done + operation.skipped + operation.failed, *operation.total);
    ASSERT_GE(*operation.total, counted_at_first);
  }
}

}  // namespace
}  // namespace postrider
