#include "runtime/operation_step.h"

#include <gtest/gtest.h>

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
  return counted(begun(scheduled(kind), epoch), 10);
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

template <class Move>
bool is(const OperationMove& move) {
  return std::holds_alternative<Move>(move);
}

// ---------------------------------------------------------------- what comes next

TEST(OperationStep, WaitsForItsTimeThenBeginsCountsAndRuns) {
  const Pace pace = make_pace({}, start);
  Operation operation = scheduled();
  operation.due = epoch + 5s;
  EXPECT_EQ(std::get<WaitForStart>(next_move(operation, pace, at())).at, epoch + 5s);
  EXPECT_TRUE(is<Begin>(next_move(operation, pace, at(5s))));
  operation = begun(operation, epoch + 5s);
  EXPECT_EQ(operation.status, OperationStatus::running);
  EXPECT_EQ(operation.started_at, epoch + 5s);
  EXPECT_TRUE(is<CountTotal>(next_move(operation, pace, at(5s))));
  operation = counted(operation, 7);
  EXPECT_EQ(std::get<TakeChunk>(next_move(operation, pace, at(5s))).limit, chunk_max);
}

TEST(OperationStep, RestsOnceItIsOver) {
  const Pace pace = make_pace({}, start);
  for (const Operation& over : {finished(running(), epoch), failed(running(), "Gone.", epoch),
                                cancelled(running(), epoch)}) {
    EXPECT_TRUE(is<Rest>(next_move(over, pace, at(1h))));
    EXPECT_EQ(over.finished_at, epoch);
  }
}

TEST(OperationStep, PausesBetweenChunks) {
  Pace pace = make_pace({}, start);
  charge(pace, 250, start);
  EXPECT_EQ(std::get<WaitForPace>(next_move(running(), pace, at())).at, start + chunk_pause);
  EXPECT_TRUE(is<TakeChunk>(next_move(running(), pace, at(chunk_pause))));
}

TEST(OperationStep, TakesNoMoreThanItsRateAllows) {
  Pace pace = make_pace({.filter = {}, .requests_per_second = 10}, start);
  EXPECT_EQ(std::get<WaitForPace>(next_move(running(), pace, at())).at, start + 100ms);
  EXPECT_EQ(std::get<TakeChunk>(next_move(running(), pace, at(100ms))).limit, 1u);
  // A burst of one at ten a second: a pause does not add up.
  EXPECT_EQ(std::get<TakeChunk>(next_move(running(), pace, at(10s))).limit, 1u);
  charge(pace, 1, start + 10s);
  EXPECT_EQ(std::get<WaitForPace>(next_move(running(), pace, at(10s + chunk_pause))).at,
            start + 10s + 100ms);

  const Pace fast = make_pace({.filter = {}, .requests_per_second = 1'000}, start);
  EXPECT_EQ(std::get<TakeChunk>(next_move(running(), fast, at(20ms))).limit, 20u);
  EXPECT_EQ(std::get<TakeChunk>(next_move(running(), fast, at(10s))).limit, 50u);
}

TEST(OperationStep, OneThatRepeatsIsScheduledAgainFromWhenItWasDue) {
  Operation operation = scheduled();
  operation.spec.repeat_every = 60s;
  operation = finished(counted(begun(operation, epoch + 1s), 3), epoch + 10s);
  EXPECT_EQ(operation.status, OperationStatus::scheduled);
  EXPECT_EQ(operation.due, epoch + 60s);
  EXPECT_EQ(operation.runs, 1u);
  EXPECT_EQ(operation.total, 3u);  // People may still look.
  operation.done = 3;
  operation = begun(operation, epoch + 60s);
  EXPECT_EQ(operation.done, 0u);
  EXPECT_EQ(operation.total, std::nullopt);
  operation = finished(operation, epoch + 500s);
  EXPECT_EQ(operation.due, epoch + 500s);  // Not once for every minute it took.
}

// ---------------------------------------------------------------- what it acts on

TEST(OperationStep, ActsOnWhatWasThereWhenItStarted) {
  Operation operation = scheduled();
  operation.spec.filter.to = epoch + 10s;
  EXPECT_EQ(dead_letters_of(begun(operation, epoch + 5s)).to, epoch + 5s + 1ms);
  EXPECT_EQ(dead_letters_of(begun(operation, epoch + 15s)).to, epoch + 10s);
  EXPECT_EQ(dead_letters_of(begun(operation, epoch)).states,
            std::vector{DeliveryState::dead_letter});
  const EventFilter events = events_of(begun(operation, epoch + 5s), *webhook(1));
  EXPECT_EQ(events.to, epoch + 5s + 1ms);
  EXPECT_EQ(events.tenant_id, TenantId{});
}

TEST(OperationStep, ADeadLetterIsRevivedAsItWasSeenUnlessItsWebhookIsGone) {
  Operation operation = running();
  operation.spec.priority = Priority::high;
  const Directory directory{{webhook(7)}};
  const ChunkPlan plan =
      plan_dead_letters(operation, {.items = {dead(9), dead(7, 2)}, .next = 7}, directory, at());
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
}

TEST(OperationStep, DiscardingNeedsNoWebhook) {
  const ChunkPlan plan = plan_dead_letters(running(OperationKind::discard),
                                           {.items = {dead(9)}, .next = std::nullopt}, {}, at());
  ASSERT_EQ(plan.batch.cancels.size(), 1u);
  EXPECT_EQ(plan.batch.cancels.front().of, CancelOf::dead_letter);
  EXPECT_TRUE(plan.last);
}

TEST(OperationStep, AReplayRevivesWhatItIsAskedForEnrollsWhatWasMissedAndSkipsTheRest) {
  Operation operation = running(OperationKind::replay);
  operation.spec.filter.states = {DeliveryState::dead_letter};
  const WebhookRef receiver = webhook(1);
  const auto item = [](std::string type, std::optional<DeliveryState> state) {
    EventForWebhook made;
    made.event.type = std::move(type);
    made.event.priority = Priority::low;
    if (state) {
      made.delivery = dead(3);
      made.delivery->delivery.state = *state;
    }
    return made;
  };
  const std::function<Uuid()> new_uuid = [] { return Uuid{42}; };
  const ChunkPlan plan = plan_replay(operation,
                                     {.items = {item("order.paid", {}), item("user.born", {}),
                                                item("order.paid", DeliveryState::dead_letter),
                                                item("order.paid", DeliveryState::succeeded),
                                                item("order.paid", DeliveryState::retrying)},
                                      .next = std::nullopt},
                                     {.webhook = *receiver, .new_uuid = new_uuid, .now = at()});
  EXPECT_EQ(plan.skipped, 3u);
  ASSERT_EQ(plan.batch.enrolments.size(), 1u);
  const Delivery& late = plan.batch.enrolments.front().delivery;
  EXPECT_EQ(late.id, DeliveryId{Uuid{42}});
  EXPECT_EQ(late.webhook_id, receiver->id);
  EXPECT_EQ(late.priority, Priority::low);
  EXPECT_EQ(late.trigger, Trigger::replay);
  EXPECT_EQ(late.due, at().steady);
  ASSERT_EQ(plan.batch.revivals.size(), 1u);
  EXPECT_EQ(plan.batch.revivals.front().trigger, Trigger::replay);
}

TEST(OperationStep, AChunkCountsWhatWasDoneAndWhatHadMovedOn) {
  ChunkPlan plan;
  plan.batch.revivals.resize(3);
  plan.batch.enrolments.resize(2);
  plan.skipped = 10;
  plan.failed = 20;
  plan.place = 99;
  BatchReceipt receipt;
  receipt.revivals = {Delivery{}, fail(Errc::conflict, "Moved on."), Delivery{}};
  receipt.enrolments = {std::nullopt, Delivery{}};
  Operation operation = after_chunk(running(), plan, receipt, epoch + 1s);
  EXPECT_EQ(operation.done, 3u);
  EXPECT_EQ(operation.skipped, 12u);
  EXPECT_EQ(operation.failed, 20u);
  EXPECT_EQ(operation.place, 99);
  EXPECT_EQ(operation.status, OperationStatus::running);
  plan.last = true;
  operation = after_chunk(operation, plan, receipt, epoch + 1s);
  EXPECT_EQ(operation.status, OperationStatus::completed);
  EXPECT_EQ(operation.done, 6u);
}

}  // namespace
}  // namespace postrider
