// Finding events, deliveries and attempts: by resource, by circuit, by result and time.
#include <string>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

using Sequences = std::vector<std::int64_t>;
using Ids = std::vector<AttemptId>;

Sequences sequences(const Result<Listed<DeliveryRecord>>& listed) {
  Sequences found;
  EXPECT_TRUE(listed.has_value());
  for (const DeliveryRecord& record : listed ? listed->items : std::vector<DeliveryRecord>{}) {
    found.push_back(record.delivery.sequence);
  }
  return found;
}

std::vector<EventId> event_ids(const Result<Listed<Event>>& listed) {
  std::vector<EventId> found;
  EXPECT_TRUE(listed.has_value());
  for (const Event& event : listed ? listed->items : std::vector<Event>{}) {
    found.push_back(event.id);
  }
  return found;
}

Ids attempt_ids(const Result<ListedAttempts>& listed) {
  Ids found;
  EXPECT_TRUE(listed.has_value());
  for (const AttemptRecord& record : listed ? listed->items : std::vector<AttemptRecord>{}) {
    found.push_back(record.attempt.id);
  }
  return found;
}

}  // namespace

TEST_P(HistoryContract, FiltersEventsByResource) {
  const Delivery a = accept(first_, {.resource_id = "swap-1"});
  const Delivery b = accept(first_, {.resource_id = "swap-2"});
  const Delivery c = accept(second_, {.tenant_id = "other", .resource_id = "swap-1"});
  accept(first_);
  const auto list = [this](const EventFilter& filter, const Page& page = {}) {
    return event_ids(history().list_events(filter, page));
  };
  EXPECT_EQ(list({.resource_id = "swap-1"}), (std::vector{c.event_id, a.event_id}));
  EXPECT_EQ(list({.tenant_id = "acme", .resource_id = "swap-1"}), (std::vector{a.event_id}));
  EXPECT_EQ(list({.resource_id = "swap-2"}), (std::vector{b.event_id}));
  EXPECT_TRUE(list({.resource_id = "swap-3"}).empty());
  EXPECT_TRUE(list({.resource_id = "SWAP-1"}).empty());
  EXPECT_TRUE(list({.matched = false, .resource_id = "swap-1"}).empty());
  EXPECT_EQ(list({.resource_id = "swap-1"}, {.limit = 1, .offset = 1}), (std::vector{a.event_id}));
  const auto forward = history().list_events_for(
      first_, {.tenant_id = "acme", .resource_id = "swap-1"}, {.limit = 10});
  ASSERT_TRUE(forward.has_value());
  ASSERT_EQ(forward->items.size(), 1u);
  EXPECT_EQ(forward->items.front().event.id, a.event_id);
}

TEST_P(HistoryContract, FiltersDeliveriesByResourceWhateverTheNumberOfRowsRead) {
  const PublishReceipt both = publish({first_, second_}, {.resource_id = "swap-1"});
  const auto& made = std::get<Accepted>(both).deliveries;
  const Delivery b = accept(first_, {.resource_id = "swap-2"});
  const Delivery c = accept(second_, {.tenant_id = "other", .resource_id = "swap-1"});
  const Delivery d = accept(first_);
  const std::optional<Delivery> late = add_late_delivery(b.event_id, second_);
  ASSERT_TRUE(late.has_value());
  settle(script_.death(made[0], {Classification::permanent, "permanent_client_error_404"}));
  const DeliveryFilter swap{.resource_id = "swap-1"};
  DeliveryFilter dead = swap;
  dead.states = {DeliveryState::dead_letter};
  DeliveryFilter of_webhook = swap;
  of_webhook.webhook_ids = {second_};
  DeliveryFilter of_tenant = swap;
  of_tenant.tenant_id = "acme";

  /// Follows the cursors.
  const auto list = [this](const DeliveryFilter& filter, std::uint32_t scanned_max) {
    Sequences found;
    Page page{.limit = 2, .scanned_max = scanned_max};
    for (int calls = 0; calls < 100; ++calls) {
      const auto listed = history().list_deliveries(filter, page);
      const Sequences part = sequences(listed);
      found.insert(found.end(), part.begin(), part.end());
      if (!listed || !listed->next) {
        break;
      }
      page.before = listed->next;
    }
    return found;
  };
  for (const std::uint32_t scanned_max : {1u, 2u, 3u, 1'000u}) {
    EXPECT_EQ(list(swap, scanned_max), (Sequences{c.sequence, made[1].sequence, made[0].sequence}));
    EXPECT_EQ(list(dead, scanned_max), (Sequences{made[0].sequence}));
    EXPECT_EQ(list(of_webhook, scanned_max), (Sequences{c.sequence, made[1].sequence}));
    EXPECT_EQ(list(of_tenant, scanned_max), (Sequences{made[1].sequence, made[0].sequence}));
    EXPECT_EQ(list({.resource_id = "swap-2"}, scanned_max),
              (Sequences{late->sequence, b.sequence}));
    EXPECT_TRUE(list({.resource_id = "swap-3"}, scanned_max).empty());
    EXPECT_TRUE(list({.event_id = d.event_id, .resource_id = "swap-1"}, scanned_max).empty());
  }
  EXPECT_EQ(history().count_deliveries(swap, {})->count, 3u);
  EXPECT_EQ(history().count_deliveries(dead, {})->count, 1u);
}

TEST_P(HistoryContract, FiltersDeliveriesThatAnOpenCircuitMayBlock) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(second_)).has_value());
  const Delivery a = accept(first_);
  const Delivery b = accept(second_);
  const Delivery done = accept(first_);
  settle(script_.success(done));
  const DeliveryFilter blocked{.circuit_blocked = true};
  EXPECT_TRUE(sequences(history().list_deliveries(blocked, {})).empty());

  Batch batch;
  batch.circuits.push_back({first_, {.state = CircuitState::open, .changed_at = script_.now}});
  commit(batch);
  EXPECT_EQ(sequences(history().list_deliveries(blocked, {})), (Sequences{a.sequence}));
  EXPECT_EQ(sequences(history().list_deliveries(
                {.states = {DeliveryState::succeeded}, .circuit_blocked = true}, {})),
            (Sequences{done.sequence, a.sequence}));
  EXPECT_TRUE(
      sequences(history().list_deliveries({.webhook_ids = {second_}, .circuit_blocked = true}, {}))
          .empty());
  Batch forced;
  forced.circuits.push_back({second_,
                             {.state = CircuitState::closed,
                              .changed_at = script_.now,
                              .forced_until = wall_time_max,
                              .forced_open = true}});
  commit(forced);
  EXPECT_EQ(sequences(history().list_deliveries(blocked, {})), (Sequences{b.sequence, a.sequence}));
}

TEST_P(HistoryContract, RecordHasItsLatestAttempt) {
  Delivery delivery = accept(first_);
  EXPECT_EQ(record(delivery.id).last_attempt, std::nullopt);
  script_.now += Millis{10};
  const Settlement failed = script_.retry(delivery, script_.now);
  settle(failed);
  const LastAttempt first{
      .executed_at = script_.now, .duration = Micros{2'500}, .error_message = "It failed."};
  EXPECT_EQ(record(delivery.id).last_attempt, first);
  EXPECT_EQ(history().list_deliveries({}, {})->items.front().last_attempt, first);
  script_.now += Millis{10};
  settle(script_.success(failed.delivery));
  const LastAttempt second{
      .executed_at = script_.now, .duration = Micros{2'500}, .error_message = ""};
  EXPECT_EQ(record(delivery.id).last_attempt, second);
  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now}).has_value());
  EXPECT_EQ(record(delivery.id).last_attempt, second);
  EXPECT_EQ(record(delivery.id).delivery.budget_used, 0u);
  EXPECT_EQ(record(delivery.id).delivery.attempt_count, 2u);
}

TEST_P(HistoryContract, ListsAttemptsByTimeInPages) {
  Delivery old = accept(first_);
  const Delivery young = accept(second_, {.type = "order.paid", .tenant_id = "other"});
  const auto next = [this] { script_.now += Millis{10}; };
  const Settlement one = script_.retry(old, script_.now);
  settle(one);
  next();
  const Settlement two = script_.success(young);
  settle(two);
  next();
  const Settlement three =
      script_.death(one.delivery, {Classification::recoverable, "max_attempts_exceeded"});
  settle(three);
  const Ids all{three.attempt->id, two.attempt->id, one.attempt->id};

  for (const std::uint32_t scanned_max : {1u, 2u, 1'000u}) {
    Ids found;
    AttemptPage page{.limit = 1, .scanned_max = scanned_max};
    for (int calls = 0; calls < 20; ++calls) {
      const auto listed = history().list_attempts({}, page);
      const Ids part = attempt_ids(listed);
      found.insert(found.end(), part.begin(), part.end());
      if (!listed || !listed->next) {
        break;
      }
      page.before = listed->next;
    }
    EXPECT_EQ(found, all);
  }
  EXPECT_EQ(attempt_ids(history().list_attempts({}, {.limit = 5, .offset = 1})),
            (Ids{all[1], all[2]}));
  EXPECT_EQ(attempt_ids(history().list_attempts({}, {.limit = 0})), Ids{});
  const AttemptRecord shown = history().list_attempts({.webhook_ids = {second_}}, {})->items.at(0);
  EXPECT_EQ(shown, (AttemptRecord{.attempt = *two.attempt,
                                  .delivery_id = young.id,
                                  .event_id = young.event_id,
                                  .webhook_id = second_,
                                  .tenant_id = "other",
                                  .event_type = "order.paid"}));
}

TEST_P(HistoryContract, FiltersAttempts) {
  const Delivery a = accept(first_);
  const Delivery b = accept(second_, {.type = "order.paid", .tenant_id = "other"});
  const WallTime start = script_.now;
  const Settlement failed = script_.retry(a, script_.now);
  settle(failed);
  script_.now += Millis{10};
  Settlement slow = script_.retry(b, script_.now);
  slow.attempt->failure_category = FailureCategory::timeout;
  settle(slow);
  script_.now += Millis{10};
  const Settlement died =
      script_.death(failed.delivery, {Classification::permanent, "permanent_client_error_404"});
  settle(died);
  script_.now += Millis{10};
  const Settlement done = script_.success(slow.delivery);
  settle(done);
  const AttemptId one = failed.attempt->id;
  const AttemptId two = slow.attempt->id;
  const AttemptId three = died.attempt->id;
  const AttemptId four = done.attempt->id;

  const auto list = [this](const AttemptFilter& filter) {
    return attempt_ids(history().list_attempts(filter, {}));
  };
  EXPECT_EQ(list({.webhook_ids = {first_}}), (Ids{three, one}));
  EXPECT_EQ(list({.webhook_ids = {first_, second_}}), (Ids{four, three, two, one}));
  EXPECT_EQ(list({.webhook_ids = {StoreScript::webhook(9)}}), Ids{});
  EXPECT_EQ(list({.tenant_id = "other"}), (Ids{four, two}));
  EXPECT_EQ(list({.tenant_id = "acme", .webhook_ids = {second_}}), Ids{});
  EXPECT_EQ(list({.tenant_id = "nobody"}), Ids{});
  EXPECT_EQ(list({.delivery_id = a.id}), (Ids{three, one}));
  EXPECT_EQ(list({.tenant_id = "other", .delivery_id = a.id}), Ids{});
  EXPECT_EQ(list({.delivery_id = DeliveryId{}}), Ids{});
  EXPECT_EQ(list({.statuses = {AttemptStatus::succeeded}}), (Ids{four}));
  EXPECT_EQ(list({.statuses = {AttemptStatus::failed}}), (Ids{three, two, one}));
  EXPECT_EQ(list({.statuses = {AttemptStatus::timeout}}), (Ids{two}));
  EXPECT_EQ(list({.statuses = {AttemptStatus::exhausted}}), (Ids{three}));
  EXPECT_EQ(list({.statuses = {AttemptStatus::blocked}}), Ids{});
  EXPECT_EQ(list({.statuses = {AttemptStatus::succeeded, AttemptStatus::timeout}}),
            (Ids{four, two}));
  EXPECT_EQ(list({.event_types = {"order.paid"}}), (Ids{four, two}));
  EXPECT_EQ(list({.event_types = {"user.*"}}), Ids{});
  EXPECT_EQ(list({.failure_categories = {FailureCategory::client_error}}), (Ids{three}));
  EXPECT_EQ(list({.from = start + Millis{10}}), (Ids{four, three, two}));
  EXPECT_EQ(list({.from = start + Millis{10}, .to = start + Millis{20}}), (Ids{two}));
  EXPECT_EQ(list({.webhook_ids = {second_}, .to = start + Millis{20}}), (Ids{two}));
}

TEST_P(HistoryContract, ListsAttemptsOfOneWebhookInPages) {
  Ids all;
  for (int i = 0; i < 5; ++i) {
    const Settlement settlement = script_.success(accept(first_));
    settle(settlement);
    settle(script_.success(accept(second_)));
    all.insert(all.begin(), settlement.attempt->id);
    script_.now += Millis{1};
  }
  for (const std::uint32_t scanned_max : {1u, 2u, 3u, 1'000u}) {
    Ids found;
    AttemptPage page{.limit = 2, .scanned_max = scanned_max};
    for (int calls = 0; calls < 20; ++calls) {
      const auto listed = history().list_attempts({.webhook_ids = {first_}}, page);
      const Ids part = attempt_ids(listed);
      found.insert(found.end(), part.begin(), part.end());
      if (!listed || !listed->next) {
        break;
      }
      page.before = listed->next;
    }
    EXPECT_EQ(found, all);
  }
}

}  // namespace postrider::test
