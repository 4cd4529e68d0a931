// An OperationRunner on a memory store and a manual clock, for tests.
#pragma once

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "runtime/admin/operation_runner.h"

#include "tests/support/store_harness.h"

namespace postrider {

using namespace std::chrono_literals;
using test::ManualClock;

inline WebhookId webhook_id(std::uint8_t number) {
  WebhookId id{};
  id.bytes[15] = number;
  return id;
}

inline OperationId operation_id(std::uint8_t number) {
  OperationId id{};
  id.bytes[15] = number;
  return id;
}

/// Webhooks 1 to 10 of the tenant "acme", all of them for `order.*`.
class OperationRunnerTest : public testing::Test {
 protected:
  OperationRunnerTest() {
    std::vector<WebhookRef> webhooks;
    for (std::uint8_t number = 1; number <= 10; ++number) {
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
    changes_.emplace(directory_, AccessSnapshot{}, ChannelDirectory{});
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
      answer = runner_->add({store, replies, entry}, operation, {}, key);
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
  /// Everything is requeued, and waits for its outcome.
  [[nodiscard]] bool has_requeued(std::uint8_t number) {
    const Operation operation = stored(number);
    return operation.status == OperationStatus::running && operation.requeue_finished_at &&
           !operation.finished_at && operation.outcomes.waiting() > 0;
  }
  /// Settles so many waiting deliveries.
  void settle_waiting(DeliveryState state, std::size_t limit) {
    Batch batch;
    for (const auto& [sequence, record] : memory_.deliveries) {
      if (is_waiting(record.delivery.state) && batch.settlements.size() < limit) {
        Settlement settlement{.delivery = record.delivery};
        settlement.delivery.state = state;
        settlement.delivery.due = harness_->clock.now().wall;
        settlement.dead = DeadReason{};
        batch.settlements.push_back(settlement);
      }
    }
    ASSERT_EQ(batch.settlements.size(), limit);
    ASSERT_TRUE(make_memory_ledger(memory_)->commit(batch).has_value());
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

}  // namespace postrider
