#include "runtime/admin/operation_runner.h"

#include <algorithm>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/store_harness.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::ManualClock;

WebhookId webhook_id(std::uint8_t number) {
  WebhookId id{};
  id.bytes[15] = number;
  return id;
}

OperationId operation_id(std::uint8_t number) {
  OperationId id{};
  id.bytes[15] = number;
  return id;
}

/// Webhooks 1 to 6 of the tenant "acme", all of them for `order.*`.
class OperationRunnerTest : public testing::Test {
 protected:
  OperationRunnerTest() {
    std::vector<WebhookRef> webhooks;
    for (std::uint8_t number = 1; number <= 6; ++number) {
      Webhook webhook;
      webhook.id = webhook_id(number);
      webhook.tenant_id = "acme";
      webhook.events = {*EventPattern::parse("order.*")};
      memory_.webhooks.emplace(webhook.id, webhook);
      webhooks.push_back(std::make_shared<const Webhook>(webhook));
    }
    directory_ = Directory{std::move(webhooks)};
  }
  ~OperationRunnerTest() override { end(); }

  /// Starts the server, for the first time or again.
  void start() {
    harness_.emplace(memory_);
    changes_.emplace(directory_, AccessSnapshot{});
    publisher_.emplace(hub_, *changes_, harness_->clock);
    runner_.emplace(OperationRunnerParts{.loop = &harness_->loop,
                                         .worker = 0,
                                         .clock = &harness_->clock,
                                         .store = &*harness_->thread,
                                         .readers = &*harness_->readers,
                                         .metrics = harness_->metrics.get(),
                                         .changes = &*changes_,
                                         .stream = &*publisher_,
                                         .new_uuid = [this] { return ids_.next({}); }});
    harness_->start();
  }

  void end() {
    if (harness_) {
      harness_->stop();
      runner_.reset();
      harness_.reset();
    }
  }

  /// Stores one event of the type, with a delivery to the webhook unless that is 0.
  Delivery publish(std::uint8_t webhook, std::string type = "order.paid") {
    Publish publish;
    publish.event.id = EventId{ids_.next({})};
    publish.event.tenant_id = "acme";
    publish.event.type = type;
    publish.event.data = "{}";
    publish.event.created_at = ManualClock::start - 1min;
    Delivery delivery;
    if (webhook != 0) {
      delivery.id = DeliveryId{ids_.next({})};
      delivery.event_id = publish.event.id;
      delivery.webhook_id = webhook_id(webhook);
      delivery.event_type = std::move(type);
      publish.deliveries.push_back(delivery);
    }
    const Result<BatchReceipt> receipt =
        make_memory_ledger(memory_)->commit({.publishes = {publish}});
    EXPECT_TRUE(receipt.has_value());
    const Accepted accepted = std::get<Accepted>(receipt->publishes.front());
    return accepted.deliveries.empty() ? Delivery{} : accepted.deliveries.front();
  }

  /// Stores so many dead letters of a webhook.
  void add_dead_letters(std::uint8_t webhook, int count, WallTime at = ManualClock::start - 1s) {
    for (int i = 0; i < count; ++i) {
      Settlement death;
      death.delivery = publish(webhook);
      death.delivery.state = DeliveryState::dead_letter;
      death.delivery.attempt_count = 1;
      death.attempt = Attempt{};
      death.attempt->failure_category = FailureCategory::timeout;
      death.attempt->outcome.executed_at = at;
      death.dead = DeadReason{};
      ASSERT_TRUE(make_memory_ledger(memory_)->commit({.settlements = {death}}).has_value());
    }
  }

  static Operation make_operation(OperationKind kind, std::uint8_t number,
                                  OperationSpec spec = {.filter = {}}) {
    Operation operation;
    operation.id = operation_id(number);
    operation.kind = kind;
    operation.spec = std::move(spec);
    operation.due = operation.spec.start_at.value_or(ManualClock::start);
    operation.created_at = ManualClock::start;
    return operation;
  }
  static OperationSpec spec_for(std::uint8_t webhook,
                                std::optional<std::uint32_t> rate = std::nullopt) {
    OperationSpec spec{.filter = {}};
    spec.filter.webhook_ids = {webhook_id(webhook)};
    spec.requests_per_second = rate;
    return spec;
  }

  /// What `add` answered.
  Result<Operation> add(const Operation& operation,
                        const std::optional<RequestKey>& key = std::nullopt) {
    const AuditEntry entry{.at = harness_->clock.now().wall,
                           .action = "operation.create",
                           .subject = operation.id.to_string()};
    Result<Operation> answer = fail(Errc::unavailable, "Not called.");
    harness_->on_store([&](Store& store, RepliesByShard& replies) -> Result<void> {
      answer = runner_->add({store, replies, entry}, operation, key);
      return {};
    });
    harness_->settle();
    return answer;
  }
  Result<Operation> cancel(OperationId id) {
    const AuditEntry entry{.at = harness_->clock.now().wall, .action = "operation.cancel"};
    Result<Operation> answer = fail(Errc::unavailable, "Not called.");
    harness_->on_store([&](Store& store, RepliesByShard& replies) -> Result<void> {
      answer = runner_->cancel({store, replies, entry}, id);
      return {};
    });
    harness_->settle();
    return answer;
  }
  void remove_webhook(std::uint8_t number) {
    harness_->on_store([&](Store& store, RepliesByShard& replies) {
      return changes_->remove_webhook({store, replies, AuditEntry{}}, webhook_id(number));
    });
  }

  [[nodiscard]] Operation stored(std::uint8_t number) {
    const std::lock_guard lock{memory_.mutex};
    return memory_.operations.at(operation_id(number));
  }
  [[nodiscard]] std::size_t count(DeliveryState state) {
    const std::lock_guard lock{memory_.mutex};
    return static_cast<std::size_t>(std::ranges::count_if(
        memory_.deliveries, [&](const auto& row) { return row.second.delivery.state == state; }));
  }
  /// The deliveries that the lanes were given since the last call.
  std::vector<Delivery> take_admitted() {
    std::vector<Delivery> admitted;
    for (const Input& input : harness_->take_inputs()) {
      if (const auto* some = std::get_if<Admitted>(&input)) {
        admitted.insert(admitted.end(), some->deliveries.begin(), some->deliveries.end());
      }
    }
    return admitted;
  }

  MemoryStore memory_;
  Directory directory_;
  UuidGenerator ids_{1};
  StreamHub hub_{{.epoch = 1}};
  std::optional<test::StoreHarness> harness_;
  std::optional<AdminChanges> changes_;
  std::optional<BatchStreamPublisher> publisher_;
  std::optional<OperationRunner> runner_;
};

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
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
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
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
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
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
}

TEST_F(OperationRunnerTest, RunsFourAtATimeAndStartsTheNextWhenOneEnds) {
  for (std::uint8_t number = 1; number <= 6; ++number) {
    add_dead_letters(number, number == 1 ? 10 : 20);
  }
  start();
  for (std::uint8_t number = 1; number <= 6; ++number) {
    ASSERT_TRUE(
        add(make_operation(OperationKind::retry_batch, number, spec_for(number, 1))).has_value());
  }
  EXPECT_EQ(stored(4).status, OperationStatus::running);
  EXPECT_EQ(stored(5).status, OperationStatus::scheduled);
  harness_->advance(9s);
  EXPECT_EQ(stored(5).status, OperationStatus::scheduled);
  harness_->advance(1s);
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
  EXPECT_EQ(stored(5).status, OperationStatus::running) << "the end of one lets the next start";
  EXPECT_EQ(stored(6).status, OperationStatus::scheduled);
  ASSERT_TRUE(cancel(operation_id(2)).has_value());
  EXPECT_EQ(stored(6).status, OperationStatus::running) << "so does a cancellation";
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
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
}

TEST_F(OperationRunnerTest, NoticesWithinHalfAMinuteThatTheWallClockWasSetForward) {
  add_dead_letters(1, 1);
  OperationSpec spec = spec_for(1);
  spec.start_at = ManualClock::start + 24h;
  start();
  ASSERT_TRUE(add(make_operation(OperationKind::retry_batch, 1, spec)).has_value());
  harness_->clock.jump_wall(25h);
  harness_->advance(30s);
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
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
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
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
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
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
        ->add({store, replies, entry}, make_operation(OperationKind::discard, 1), std::nullopt)
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
  EXPECT_EQ(stored(1).status, OperationStatus::completed);
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
