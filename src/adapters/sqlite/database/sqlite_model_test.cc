// Property test of the SQLite store with the memory store as its model: after the same random
// operations both must return the same results.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/random.h"

#include "adapters/memory/memory_store.h"

#include "tests/contract/store_script.h"
#include "tests/support/open_sqlite.h"

namespace postrider::test {
namespace {

constexpr std::uint64_t webhook_count = 3;

template <class Value>
void expect_same(const Result<Value>& model, const Result<Value>& real) {
  RC_ASSERT(model.has_value() == real.has_value());
  if (model) {
    RC_ASSERT(*model == *real);
  } else {
    RC_ASSERT(model.error().code == real.error().code);
  }
}

/// Applies random operations to both stores and compares the results.
class StorePair {
 public:
  /// Performs one operation per choice.
  void run(const std::vector<std::uint64_t>& choices) {
    for (const std::uint64_t choice : choices) {
      random_ = SplitMix64{choice};
      step();
    }
    compare_history();
  }

 private:
  void step() {
    script_.now += Millis{static_cast<std::int64_t>(random_.below(50))};
    switch (random_.below(9)) {
      case 0:
        return compare_lanes();
      case 1:
        real_.reopen();
        return;
      case 2:
        expect_same(model_ledger_->backlog(), real_.store().ledger->backlog());
        return;
      case 3:
        return fan_out();
      default:
        return commit();
    }
  }

  void fan_out() {
    const std::uint64_t seed = random_.below(1u << 30);
    const TenantId tenant_id = some_tenant();
    const auto limit = static_cast<std::uint32_t>(1 + random_.below(4));
    const auto step = [&](Ledger& ledger) {
      UuidGenerator ids{seed};
      return ledger.fan_out({.tenant_id = tenant_id,
                             .limit = limit,
                             .now = script_.now,
                             .due_max = script_.now,
                             .exists = [](WebhookId id) { return id != StoreScript::webhook(0); },
                             .new_id = [&] { return ids.make<DeliveryId>(script_.now); }});
    };
    const Result<FannedOut> model = step(*model_ledger_);
    const Result<FannedOut> real = step(*real_.store().ledger);
    RC_ASSERT(model.has_value() && real.has_value());
    RC_ASSERT(model->left_out == real->left_out && model->finished == real->finished);
    RC_ASSERT(model->parts.size() == real->parts.size());
    for (std::size_t i = 0; i < model->parts.size(); ++i) {
      RC_ASSERT(model->parts[i].event == real->parts[i].event);
      RC_ASSERT(model->parts[i].deliveries == real->parts[i].deliveries);
      deliveries_.insert(deliveries_.end(), model->parts[i].deliveries.begin(),
                         model->parts[i].deliveries.end());
    }
    expect_same(model_ledger_->open_fanouts(), real_.store().ledger->open_fanouts());
  }

  void commit() {
    Batch batch;
    for (std::uint64_t i = random_.below(4); i > 0; --i) {
      batch.publishes.push_back(some_publish());
    }
    for (std::uint64_t i = random_.below(4); i > 0 && !deliveries_.empty(); --i) {
      batch.settlements.push_back(some_settlement());
    }
    if (random_.below(4) == 0) {
      batch.revivals.push_back({.delivery_id = some_id(),
                                .now = script_.now,
                                .priority = some_priority(),
                                .trigger = Trigger::replay});
    }
    if (random_.below(4) == 0) {
      batch.revivals.push_back({.delivery_id = some_id(),
                                .now = script_.now,
                                .priority = {},
                                .only_if = some_precondition(),
                                .operation = some_operation()});
    }
    if (random_.below(3) == 0 && !deliveries_.empty()) {
      const EventId event = deliveries_[random_.below(deliveries_.size())].event_id;
      batch.late_deliveries.push_back(script_.add_late_delivery(
          event, StoreScript::webhook(static_cast<std::uint8_t>(random_.below(webhook_count)))));
      batch.late_deliveries.back().operation = some_operation();
      batch.late_deliveries.back().delivery.in_operation =
          batch.late_deliveries.back().operation.has_value();
    }
    if (random_.below(4) == 0) {
      batch.cancels.push_back({some_id(), script_.now});
    }
    if (random_.below(4) == 0) {
      batch.cancels.push_back({.delivery_id = some_id(),
                               .now = script_.now,
                               .of = CancelOf::dead_letter,
                               .only_if = some_precondition()});
    }
    const Result<BatchReceipt> model = model_ledger_->commit(batch);
    const Result<BatchReceipt> real = real_.store().ledger->commit(batch);
    RC_ASSERT(model.has_value() && real.has_value());
    RC_ASSERT(model->publishes == real->publishes);
    RC_ASSERT(model->fanouts == real->fanouts);
    for (std::size_t i = 0; i < model->revivals.size(); ++i) {
      expect_same(model->revivals[i], real->revivals.at(i));
    }
    for (std::size_t i = 0; i < model->cancels.size(); ++i) {
      expect_same(model->cancels[i], real->cancels.at(i));
    }
    RC_ASSERT(model->late_deliveries == real->late_deliveries);
    RC_ASSERT(model->revived_meanwhile == real->revived_meanwhile);
    RC_ASSERT(model->dead_letter_changes == real->dead_letter_changes);
    RC_ASSERT(model->waiting_change == real->waiting_change);
    RC_ASSERT(model->outcomes == real->outcomes);
    for (const std::optional<Delivery>& late : model->late_deliveries) {
      if (late) {
        deliveries_.push_back(*late);
      }
    }
    for (const PublishReceipt& receipt : model->publishes) {
      if (const Accepted* accepted = std::get_if<Accepted>(&receipt)) {
        deliveries_.insert(deliveries_.end(), accepted->deliveries.begin(),
                           accepted->deliveries.end());
      }
    }
  }

  Publish some_publish() {
    std::vector<WebhookId> to;
    for (std::uint8_t i = 0; i < webhook_count; ++i) {
      if (random_.below(2) == 0) {
        to.push_back(StoreScript::webhook(i));
      }
    }
    PublishOptions options;
    options.type = some_type();
    options.priority = some_priority().value_or(Priority::normal);
    options.due_in = Millis{static_cast<std::int64_t>(random_.below(100))};
    options.tenant_id = some_tenant();
    options.atomic_group = random_.below(3);
    if (random_.below(2) == 0) {
      options.key = "k" + std::to_string(random_.below(6));
      options.body_digest = "digest" + std::to_string(random_.below(4) / 3);
    }
    if (random_.below(2) == 0) {
      options.resource_id = some_resource();
    }
    Publish publish = script_.publish(to, options);
    if (publish.claim) {
      publish.claim->expires_at = script_.now + Millis{300};
    }
    publish.ordered = random_.below(3) == 0;
    if (random_.below(4) == 0 && !to.empty()) {
      publish.fanout = Fanout{.webhooks = std::make_shared<const std::vector<WebhookId>>(to),
                              .chosen = {},
                              .count = static_cast<std::uint32_t>(to.size()),
                              .due = publish.deliveries.front().due};
      publish.deliveries.clear();
    }
    return publish;
  }

  /// May be outdated, or of a final delivery.
  Settlement some_settlement() {
    Delivery delivery = deliveries_[random_.below(deliveries_.size())];
    if (random_.below(4) != 0) {
      delivery = model_history_->find_delivery(delivery.id)->delivery;
    }
    script_.request = some_shape();
    switch (random_.below(6)) {
      case 0:
      case 1:
        return script_.success(delivery);
      case 2:
      case 3:
        return script_.retry(delivery, script_.now + Millis{20});
      case 4:
        return script_.death(delivery, {Classification::recoverable, "max_attempts_exceeded"});
      default: {
        Settlement closed{.delivery = delivery, .dead = DeadReason{}};
        closed.delivery.state = DeliveryState::dead_letter;
        return closed;
      }
    }
  }

  /// One of twelve shapes, more than the store searches for an equal one; or none. Always a new
  /// object.
  RequestShapeRef some_shape() {
    const std::uint64_t choice = random_.below(16);
    return choice < 12 ? sample_shape(std::to_string(choice)) : nullptr;
  }

  std::optional<DeliveryVersion> some_precondition() {
    if (random_.below(3) == 0) {
      return std::nullopt;
    }
    return DeliveryVersion{.state = static_cast<DeliveryState>(random_.below(5)),
                           .revivals = static_cast<std::uint32_t>(random_.below(3))};
  }

  std::optional<OperationId> some_operation() {
    OperationId id;
    id.bytes[15] = static_cast<std::uint8_t>(random_.below(3));
    return id.bytes[15] == 0 ? std::nullopt : std::optional{id};
  }

  DeliveryId some_id() {
    const bool unknown = deliveries_.empty() || random_.below(10) == 0;
    return unknown ? DeliveryId{} : deliveries_[random_.below(deliveries_.size())].id;
  }
  std::optional<Priority> some_priority() {
    const std::uint64_t drawn = random_.below(priority_count + 1);
    return drawn < priority_count ? std::optional{static_cast<Priority>(drawn)} : std::nullopt;
  }
  std::string some_type() { return "type." + std::to_string(random_.below(4)); }
  TenantId some_tenant() { return random_.below(3) == 0 ? "" : "acme"; }

  void compare_lanes() {
    for (std::uint8_t i = 0; i < webhook_count; ++i) {
      for (const Ordering ordering : {Ordering::none, Ordering::per_event_type, Ordering::strict}) {
        const LoadLane query{.webhook_id = StoreScript::webhook(i),
                             .ordering = ordering,
                             .due_before = script_.now + Millis{50},
                             .limit = static_cast<std::uint32_t>(1 + random_.below(6))};
        expect_same(model_ledger_->load_lane(query), real_.store().ledger->load_lane(query));
      }
    }
  }

  void compare_history() {
    for (std::uint64_t i = 0; i < 12; ++i) {
      const DeliveryFilter filter = some_filter();
      const Page page{.limit = static_cast<std::uint32_t>(1 + random_.below(8)),
                      .offset = static_cast<std::uint32_t>(random_.below(3)),
                      .before = some_cursor()};
      expect_same(model_history_->list_deliveries(filter, page),
                  real_.reader().history->list_deliveries(filter, page));
      compare_attempts(filter, page);
      EventFilter events{.tenant_id = filter.tenant_id,
                         .types = filter.event_types,
                         .from = filter.from,
                         .to = filter.to,
                         .resource_id = filter.resource_id};
      if (random_.below(3) == 0) {
        events.matched = random_.below(2) == 0;
      }
      expect_same(model_history_->count_deliveries(filter, {.before = page.before}),
                  real_.reader().history->count_deliveries(filter, {.before = page.before}));
      const ForwardPage forward{.after = page.before.value_or(0), .limit = page.limit};
      const WebhookId replayed =
          StoreScript::webhook(static_cast<std::uint8_t>(random_.below(webhook_count)));
      expect_same(model_history_->list_events_for(replayed, events, forward),
                  real_.reader().history->list_events_for(replayed, events, forward));
      expect_same(model_history_->list_events(events, page),
                  real_.reader().history->list_events(events, page));
    }
    for (const Delivery& delivery : deliveries_) {
      expect_same(model_history_->find_delivery(delivery.id),
                  real_.reader().history->find_delivery(delivery.id));
      expect_same(model_history_->attempts_of(delivery.id),
                  real_.reader().history->attempts_of(delivery.id));
      expect_same(model_history_->requests_of(delivery.id),
                  real_.reader().history->requests_of(delivery.id));
    }
    for (std::uint8_t i = 0; i < webhook_count; ++i) {
      expect_same(model_history_->webhook_health(StoreScript::webhook(i)),
                  real_.reader().history->webhook_health(StoreScript::webhook(i)));
    }
    expect_same(model_ledger_->count_waiting(), real_.store().ledger->count_waiting());
    expect_same(model_history_->dead_letter_counts(), real_.reader().history->dead_letter_counts());
    const StatsFilter always{.from = store_epoch - std::chrono::hours{1},
                             .to = script_.now + std::chrono::hours{1}};
    expect_same(make_memory_stats(store_)->by_webhook(always),
                real_.reader().stats->by_webhook(always));
    compare_lanes();
  }

  void compare_attempts(const DeliveryFilter& filter, const Page& page) {
    AttemptFilter attempts{.tenant_id = filter.tenant_id,
                           .webhook_ids = filter.webhook_ids,
                           .event_types = filter.event_types,
                           .failure_categories = filter.failure_categories,
                           .from = filter.from,
                           .to = filter.to};
    if (random_.below(3) == 0) {
      attempts.statuses = {static_cast<AttemptStatus>(random_.below(5))};
    }
    AttemptPage part{.limit = page.limit, .offset = page.offset};
    for (int pages = 0; pages < 3; ++pages) {
      const Result<ListedAttempts> expected = model_history_->list_attempts(attempts, part);
      expect_same(expected, real_.reader().history->list_attempts(attempts, part));
      if (!expected || !expected->next) {
        break;
      }
      part.before = expected->next;
    }
  }

  std::string some_resource() { return random_.below(2) == 0 ? "swap-1" : "swap-2"; }

  DeliveryFilter some_filter() {
    DeliveryFilter filter;
    if (random_.below(3) == 0) {
      filter.tenant_id = some_tenant();
    }
    for (std::uint64_t i = random_.below(3); i > 0; --i) {
      filter.webhook_ids.push_back(
          StoreScript::webhook(static_cast<std::uint8_t>(random_.below(webhook_count))));
    }
    for (std::uint64_t i = random_.below(3); i > 0; --i) {
      filter.states.push_back(static_cast<DeliveryState>(random_.below(5)));
    }
    if (random_.below(3) == 0) {
      filter.event_types = {some_type(), some_type()};
    }
    if (random_.below(4) == 0 && !deliveries_.empty()) {
      filter.event_id = deliveries_[random_.below(deliveries_.size())].event_id;
    }
    if (random_.below(3) == 0) {
      filter.resource_id = some_resource();
    }
    if (random_.below(4) == 0) {
      filter.failure_categories = {FailureCategory::server_error};
    }
    if (random_.below(4) == 0) {
      filter.from = store_epoch + Millis{static_cast<std::int64_t>(random_.below(500))};
      filter.to = *filter.from + Millis{static_cast<std::int64_t>(random_.below(500))};
    }
    return filter;
  }

  std::optional<std::int64_t> some_cursor() {
    return random_.below(2) == 0 ? std::nullopt
                                 : std::optional{static_cast<std::int64_t>(random_.below(60))};
  }

  SplitMix64 random_{0};
  StoreScript script_;
  MemoryStore store_;
  std::unique_ptr<Ledger> model_ledger_ = make_memory_ledger(store_);
  std::unique_ptr<History> model_history_ = make_memory_history(store_);
  OpenSqlite real_;
  std::vector<Delivery> deliveries_;
};

RC_GTEST_PROP(SqliteModel, ReturnsTheSameResultsAsTheMemoryStore,
              (const std::vector<std::uint64_t>& choices)) {
  StorePair stores;
  stores.run(choices);
}

}  // namespace
}  // namespace postrider::test
