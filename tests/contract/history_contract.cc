// Reads of the history: lists, single records, health.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

const DeadReason gone{Classification::permanent, "permanent_client_error_404"};
const DeadReason worn_out{Classification::recoverable, "max_attempts_exceeded"};

std::vector<std::int64_t> sequences(const Result<Listed<DeliveryRecord>>& listed) {
  std::vector<std::int64_t> found;
  EXPECT_TRUE(listed.has_value());
  if (listed) {
    for (const DeliveryRecord& record : listed->items) {
      found.push_back(record.delivery.sequence);
    }
  }
  return found;
}

std::vector<EventId> event_ids(const Result<Listed<Event>>& listed) {
  std::vector<EventId> found;
  EXPECT_TRUE(listed.has_value());
  if (listed) {
    for (const Event& event : listed->items) {
      found.push_back(event.id);
    }
  }
  return found;
}

using Sequences = std::vector<std::int64_t>;

}  // namespace

TEST_P(HistoryContract, EmptyStoreListsNothing) {
  EXPECT_EQ(*history().list_deliveries({}, {}), Listed<DeliveryRecord>{});
  EXPECT_EQ(*history().list_events({}, {}), Listed<Event>{});
  EXPECT_EQ(*history().webhook_health(first_), WebhookHealth{});
  EXPECT_TRUE(history().dead_letter_counts()->empty());
  EXPECT_TRUE(history().attempts_of(DeliveryId{})->empty());
  EXPECT_EQ(history().find_delivery(DeliveryId{}).error().code, Errc::not_found);
  EXPECT_EQ(history().find_event(EventId{}).error().code, Errc::not_found);
}

TEST_P(HistoryContract, AttemptKeepsItsRequest) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  Delivery delivery = accept(first_);
  Delivery other = accept(second_);
  const auto attempt = [this](Delivery& of, RequestShapeRef request) {
    script_.request = std::move(request);
    const Settlement settlement = script_.retry(of, script_.now);
    of = settlement.delivery;
    settle(settlement);
  };
  const RequestShapeRef old = sample_shape("https://example.com/old");
  const RequestShapeRef now = sample_shape("https://example.com/new");
  attempt(delivery, old);
  attempt(other, now);
  attempt(delivery, now);
  attempt(delivery, old);
  attempt(delivery, nullptr);
  store_->reopen();
  attempt(delivery, sample_shape(now->url));

  using Requests = std::map<std::uint32_t, RequestShape>;
  const Requests expected = {{1, *old}, {2, *now}, {3, *old}, {5, *now}};
  EXPECT_EQ(*history().requests_of(delivery.id), expected);
  EXPECT_EQ(*history().requests_of(other.id), (Requests{{1, *now}}));
  EXPECT_EQ(*history().requests_of(DeliveryId{}), Requests{});
  ASSERT_TRUE(catalog().remove_webhook(first_, script_.now).has_value());
  store_->reopen();
  EXPECT_EQ(*history().requests_of(delivery.id), expected);
}

TEST_P(HistoryContract, ListsDeliveriesNewestFirstInPages) {
  Sequences all;
  for (int i = 0; i < 5; ++i) {
    all.insert(all.begin(), accept(first_).sequence);
  }
  const auto first = history().list_deliveries({}, {.limit = 2});
  EXPECT_EQ(sequences(first), (Sequences{all[0], all[1]}));
  const auto second = history().list_deliveries({}, {.limit = 2, .before = first->next});
  EXPECT_EQ(sequences(second), (Sequences{all[2], all[3]}));
  const auto third = history().list_deliveries({}, {.limit = 2, .before = second->next});
  EXPECT_EQ(sequences(third), (Sequences{all[4]}));
  EXPECT_EQ(third->next, std::nullopt);

  EXPECT_EQ(sequences(history().list_deliveries({}, {.limit = 2, .offset = 3})),
            (Sequences{all[3], all[4]}));
  EXPECT_EQ(history().list_deliveries({}, {.limit = 5})->next, std::nullopt);
  EXPECT_EQ(sequences(history().list_deliveries({}, {.limit = 2, .offset = 5})), Sequences{});
  EXPECT_EQ(sequences(history().list_deliveries({}, {.limit = 0})), Sequences{});
}

TEST_P(HistoryContract, FiltersDeliveriesByWebhookTenantAndType) {
  const WebhookId third = StoreScript::webhook(3);
  const std::int64_t a = accept(first_, {.type = "x"}).sequence;
  const std::int64_t b = accept(second_, {.type = "y", .tenant_id = "other"}).sequence;
  const std::int64_t c = accept(first_, {.type = "y"}).sequence;
  const std::int64_t d = accept(third, {.type = "x"}).sequence;

  const auto list = [this](const DeliveryFilter& filter) {
    return sequences(history().list_deliveries(filter, {}));
  };
  EXPECT_EQ(list({.webhook_ids = {first_}}), (Sequences{c, a}));
  EXPECT_EQ(list({.webhook_ids = {first_, second_}}), (Sequences{c, b, a}));
  EXPECT_EQ(list({.webhook_ids = {StoreScript::webhook(9)}}), Sequences{});
  EXPECT_EQ(list({.tenant_id = "acme"}), (Sequences{d, c, a}));
  EXPECT_EQ(list({.tenant_id = "nobody"}), Sequences{});
  EXPECT_EQ(list({.tenant_id = "acme", .webhook_ids = {second_}}), Sequences{});
  EXPECT_EQ(list({.event_types = {"y"}}), (Sequences{c, b}));
  EXPECT_EQ(list({.event_types = {"y", "x"}}), (Sequences{d, c, b, a}));
  EXPECT_EQ(list({.event_types = {"z"}}), Sequences{});
  EXPECT_EQ(list({.webhook_ids = {first_}, .event_types = {"x"}}), (Sequences{a}));
}

TEST_P(HistoryContract, FiltersByTypeNameOrPattern) {
  const Delivery a = accept(first_, {.type = "order"});
  const Delivery b = accept(first_, {.type = "order.paid"});
  const Delivery c = accept(second_, {.type = "order.leg.paid"});
  const Delivery d = accept(second_, {.type = "order-x.paid"});
  const Delivery e = accept(first_, {.type = "user.born"});
  settle(script_.death(b, {Classification::permanent, "permanent_client_error_404"}));

  const auto list = [this](DeliveryFilter filter, std::vector<std::string> types) {
    filter.event_types = std::move(types);
    const Sequences found = sequences(history().list_deliveries(filter, {}));
    EXPECT_EQ(history().count_deliveries(filter, {})->count, found.size());
    return found;
  };
  EXPECT_EQ(list({}, {"order.*"}), (Sequences{c.sequence, b.sequence}));
  EXPECT_EQ(list({}, {"order.leg.*", "user.born"}), (Sequences{e.sequence, c.sequence}));
  EXPECT_EQ(list({}, {"order.leg.*", "user.*", "order"}),
            (Sequences{e.sequence, c.sequence, a.sequence}));
  EXPECT_EQ(list({}, {"*"}),
            (Sequences{e.sequence, d.sequence, c.sequence, b.sequence, a.sequence}));
  EXPECT_EQ(list({}, {"never.*"}), Sequences{});
  EXPECT_EQ(list({}, {"a b"}), Sequences{});
  EXPECT_EQ(list({.webhook_ids = {first_}}, {"order.*"}), (Sequences{b.sequence}));
  EXPECT_EQ(list({.states = {DeliveryState::dead_letter}}, {"order.*"}), (Sequences{b.sequence}));
  EXPECT_EQ(list({.tenant_id = "acme"}, {"order.*"}), (Sequences{c.sequence, b.sequence}));

  const auto events = [this](std::vector<std::string> types) {
    const EventFilter filter{.tenant_id = "acme", .types = std::move(types)};
    return std::pair{history().list_events(filter, {})->items.size(),
                     history().list_events_for(first_, filter, {})->items.size()};
  };
  EXPECT_EQ(events({"order.*"}), (std::pair<std::size_t, std::size_t>{2, 2}));
  EXPECT_EQ(events({"order.*", "order"}), (std::pair<std::size_t, std::size_t>{3, 3}));
  EXPECT_EQ(events({"*"}), (std::pair<std::size_t, std::size_t>{5, 5}));
  EXPECT_EQ(events({"a b"}), (std::pair<std::size_t, std::size_t>{0, 0}));
}

TEST_P(HistoryContract, PagesOfSeveralWebhooksAreMerged) {
  Sequences all;
  for (int i = 0; i < 6; ++i) {
    all.insert(all.begin(), accept(i % 2 == 0 ? first_ : second_).sequence);
    accept(StoreScript::webhook(3));
  }
  const DeliveryFilter filter{.webhook_ids = {first_, second_, first_}};
  const auto page = history().list_deliveries(filter, {.limit = 2, .offset = 1});
  EXPECT_EQ(sequences(page), (Sequences{all[1], all[2]}));
  EXPECT_EQ(page->next, all[2]);
  EXPECT_EQ(sequences(history().list_deliveries(filter, {.limit = 4, .before = page->next})),
            (Sequences{all[3], all[4], all[5]}));
}

TEST_P(HistoryContract, ListsTheDeliveriesOfAnEvent) {
  accept(first_);
  const std::vector<Delivery> wanted = std::get<Accepted>(publish({first_, second_})).deliveries;
  accept(second_);
  EXPECT_EQ(sequences(history().list_deliveries({.event_id = wanted[0].event_id}, {})),
            (Sequences{wanted[1].sequence, wanted[0].sequence}));
  EXPECT_EQ(sequences(history().list_deliveries(
                {.webhook_ids = {first_}, .event_id = wanted[0].event_id}, {})),
            (Sequences{wanted[0].sequence}));
  EXPECT_EQ(sequences(history().list_deliveries({.event_id = EventId{}}, {})), Sequences{});
}

TEST_P(HistoryContract, FiltersDeliveriesByStateAndFailure) {
  const Delivery pending = accept(first_);
  const Delivery retrying = accept(first_);
  const Delivery done = accept(second_);
  const Delivery dead = accept(first_);
  const Delivery tired = accept(second_, {.tenant_id = "other"});
  settle(script_.retry(retrying, script_.now));
  settle(script_.success(done));
  settle(script_.death(dead, gone));
  Settlement timeout = script_.death(tired, worn_out);
  timeout.attempt->failure_category = FailureCategory::timeout;
  settle(timeout);

  const auto list = [this](const DeliveryFilter& filter) {
    return sequences(history().list_deliveries(filter, {}));
  };
  constexpr DeliveryState dead_letter = DeliveryState::dead_letter;
  constexpr DeliveryState succeeded = DeliveryState::succeeded;
  EXPECT_EQ(list({.states = {DeliveryState::pending, DeliveryState::retrying}}),
            (Sequences{retrying.sequence, pending.sequence}));
  EXPECT_EQ(list({.states = {succeeded}}), (Sequences{done.sequence}));
  EXPECT_EQ(list({.states = {dead_letter}}), (Sequences{tired.sequence, dead.sequence}));
  EXPECT_EQ(list({.tenant_id = "other", .states = {dead_letter}}), (Sequences{tired.sequence}));
  EXPECT_EQ(list({.webhook_ids = {first_}, .states = {dead_letter}}), (Sequences{dead.sequence}));
  EXPECT_EQ(list({.webhook_ids = {first_, second_}, .states = {dead_letter}}),
            (Sequences{tired.sequence, dead.sequence}));
  EXPECT_EQ(list({.states = {succeeded, dead_letter}}),
            (Sequences{tired.sequence, dead.sequence, done.sequence}));
  EXPECT_EQ(list({.states = {DeliveryState::cancelled}}), Sequences{});
  EXPECT_EQ(list({.failure_categories = {FailureCategory::timeout, FailureCategory::dns}}),
            (Sequences{tired.sequence}));
  EXPECT_EQ(list({.classification = Classification::permanent}), (Sequences{dead.sequence}));
  EXPECT_EQ(list({.tenant_id = "acme", .states = {DeliveryState::retrying}}),
            (Sequences{retrying.sequence}));
}

TEST_P(HistoryContract, ScansTheFactsOfDeadLettersWhateverTheNumberOfRowsRead) {
  const Delivery dead = accept(first_);
  accept(first_);
  const Delivery tired = accept(second_, {.type = "user.new", .tenant_id = "other"});
  settle(script_.success(accept(second_)));
  settle(script_.death(dead, gone));
  script_.now += Millis{1'000};
  Settlement timeout = script_.death(tired, worn_out);
  timeout.attempt->failure_category = FailureCategory::timeout;
  settle(timeout);

  /// One line per dead letter, sorted.
  const auto scan = [this](DeliveryFilter filter, std::uint32_t scanned_max) {
    filter.states = {DeliveryState::dead_letter};
    std::multiset<std::string> lines;
    CountRange range{.scanned_max = scanned_max};
    for (int calls = 0; calls < 100; ++calls) {
      const auto next =
          history().scan_dead_letters(filter, range, [&](const DeadLetterFacts& facts) {
            lines.insert(facts.webhook_id.to_string() + " " + std::string{facts.event_type} + " " +
                         std::string{to_string(facts.failure_category.value())} + " " +
                         std::string{to_string(facts.classification.value())} + " " +
                         std::to_string((facts.completed_at - store_epoch).count()));
          });
      if (!next.value()) {
        break;
      }
      range.before = *next;
    }
    return lines;
  };
  using Lines = std::multiset<std::string>;
  const std::string of_dead = first_.to_string() + " order.created client_error permanent 2";
  const std::string of_tired = second_.to_string() + " user.new timeout recoverable 1002";
  for (const std::uint32_t scanned_max : {1u, 2u, 1'000u}) {
    EXPECT_EQ(scan({}, scanned_max), (Lines{of_dead, of_tired}));
    EXPECT_EQ(scan({.tenant_id = "other"}, scanned_max), Lines{of_tired});
    EXPECT_EQ(scan({.webhook_ids = {first_, second_}}, scanned_max), (Lines{of_dead, of_tired}));
    EXPECT_EQ(scan({.webhook_ids = {first_}}, scanned_max), Lines{of_dead});
    EXPECT_EQ(scan({.event_types = {"user.*"}}, scanned_max), Lines{of_tired});
    EXPECT_EQ(scan({.classification = Classification::permanent}, scanned_max), Lines{of_dead});
    EXPECT_EQ(scan({.from = store_epoch + Millis{3}}, scanned_max), Lines{of_tired});
    EXPECT_EQ(scan({.event_id = dead.event_id}, scanned_max), Lines{of_dead});
    EXPECT_TRUE(scan({.tenant_id = "nobody"}, scanned_max).empty());
  }
}

TEST_P(HistoryContract, TimeFilterUsesCreationAndForDeadLettersCompletion) {
  const Delivery early = accept(first_);
  script_.now += Millis{1'000};
  const Delivery late = accept(first_);
  script_.now += Millis{1'000};
  settle(script_.death(early, gone));  // Dead 2 ms later.

  const auto list = [this](const DeliveryFilter& filter) {
    return sequences(history().list_deliveries(filter, {}));
  };
  EXPECT_EQ(list({.from = store_epoch + Millis{1}}), (Sequences{late.sequence}));
  EXPECT_EQ(list({.from = store_epoch, .to = store_epoch + Millis{1'000}}),
            (Sequences{early.sequence}));
  const WallTime death = script_.now + Millis{2};
  EXPECT_EQ(list({.states = {DeliveryState::dead_letter}, .from = death}),
            (Sequences{early.sequence}));
  EXPECT_EQ(list({.states = {DeliveryState::dead_letter}, .to = death}), Sequences{});
}

TEST_P(HistoryContract, ListsEventsNewestFirstIncludingThoseWithoutDeliveries) {
  const Publish a = script_.publish({first_, second_}, {.type = "x"});
  const Publish b = script_.publish({}, {.type = "y"});
  script_.now += Millis{10};
  const Publish c = script_.publish({}, {.type = "x", .tenant_id = "other"});
  commit({.publishes = {a, b, c}});

  const auto list = [this](const EventFilter& filter) {
    return event_ids(history().list_events(filter, {}));
  };
  EXPECT_EQ(list({}), (std::vector<EventId>{c.event.id, b.event.id, a.event.id}));
  EXPECT_EQ(list({.tenant_id = "acme"}), (std::vector<EventId>{b.event.id, a.event.id}));
  EXPECT_EQ(list({.types = {"x"}}), (std::vector<EventId>{c.event.id, a.event.id}));
  EXPECT_EQ(list({.tenant_id = "acme", .types = {"x"}}), (std::vector<EventId>{a.event.id}));
  EXPECT_EQ(list({.types = {"never"}}), (std::vector<EventId>{}));
  EXPECT_EQ(list({.from = script_.now}), (std::vector<EventId>{c.event.id}));
  EXPECT_EQ(list({.to = script_.now}), (std::vector<EventId>{b.event.id, a.event.id}));

  const auto first = history().list_events({}, {.limit = 1});
  EXPECT_EQ(event_ids(first), (std::vector<EventId>{c.event.id}));
  const auto rest = history().list_events({}, {.limit = 2, .before = first->next});
  EXPECT_EQ(event_ids(rest), (std::vector<EventId>{b.event.id, a.event.id}));
  EXPECT_EQ(rest->next, std::nullopt);
  EXPECT_EQ(as_published(*history().find_event(a.event.id)), a.event);
}

TEST_P(HistoryContract, HealthCountsOnlyTheAttemptsOfTheWebhook) {
  const Delivery done = accept(first_);
  const Delivery dead = accept(first_);
  const Delivery waiting = accept(first_);
  accept(first_);
  settle(script_.success(accept(second_)));

  Settlement slow = script_.success(done);
  slow.attempt->outcome.duration = Micros{9'000};
  settle(slow);
  script_.now += Millis{10};
  settle(script_.death(dead, gone));
  settle(script_.retry(waiting, script_.now));

  const Result<WebhookHealth> health = history().webhook_health(first_);
  ASSERT_TRUE(health.has_value());
  const WebhookHealth expected{
      .attempts = 3,
      .succeeded = 1,
      .failures = {{FailureCategory::client_error, 1}, {FailureCategory::server_error, 1}},
      .duration_p50 = Micros{2'500},
      .duration_p95 = Micros{9'000},
      .duration_p99 = Micros{9'000},
      .last_success_at = store_epoch,
      .last_failure_at = store_epoch + Millis{10},
      .deliveries = {{DeliveryState::pending, 1},
                     {DeliveryState::retrying, 1},
                     {DeliveryState::dead_letter, 1}}};
  EXPECT_EQ(*health, expected);
}

TEST_P(HistoryContract, HealthCountsOnlyTheLatestAttemptsButKeepsTheLastSuccess) {
  settle(script_.success(accept(first_)));
  Delivery delivery = accept(first_);
  Batch batch;
  for (std::uint32_t i = 0; i < health_attempts_max + 5; ++i) {
    script_.now += Millis{1};
    batch.settlements.push_back(script_.retry(delivery, script_.now));
    batch.settlements.back().attempt->outcome.duration = Micros{i};
    delivery = batch.settlements.back().delivery;
  }
  commit(batch);
  const Result<WebhookHealth> health = history().webhook_health(first_);
  ASSERT_TRUE(health.has_value());
  EXPECT_EQ(health->attempts, health_attempts_max);
  EXPECT_EQ(health->succeeded, 0u);
  EXPECT_EQ(health->duration_p50, Micros{504});  // The 500th of 5 … 1004.
  EXPECT_EQ(health->duration_p99, Micros{994});
  EXPECT_EQ(health->last_success_at, store_epoch);
  EXPECT_EQ(health->last_failure_at, script_.now);
}

TEST_P(HistoryContract, ReadsTheLatestResultsOfSeveralWebhooks) {
  settle(script_.success(accept(first_)));
  script_.now += Millis{10};
  settle(script_.success(accept(first_)));
  script_.now += Millis{10};
  settle(script_.retry(accept(second_), script_.now));
  const WebhookId untried = StoreScript::webhook(3);
  accept(untried);
  using Results = std::map<WebhookId, LatestResults>;
  const LatestResults success{.last_success_at = store_epoch + Millis{10}, .last_failure_at = {}};
  const LatestResults failure{.last_success_at = {}, .last_failure_at = script_.now};
  EXPECT_EQ(*history().latest_results({second_, untried, StoreScript::webhook(9), first_}),
            (Results{{first_, success}, {second_, failure}}));
  EXPECT_EQ(*history().latest_results({first_}), (Results{{first_, success}}));
  EXPECT_EQ(*history().latest_results({}), Results{});
}

TEST_P(HistoryContract, DeadLettersAreCountedPerTenant) {
  const Delivery a = accept(first_);
  settle(script_.death(a, gone));
  settle(script_.death(accept(second_), worn_out));
  settle(script_.death(accept(second_, {.tenant_id = ""}), worn_out));
  settle(script_.success(accept(second_, {.tenant_id = "fine"})));
  EXPECT_EQ(*history().dead_letter_counts(),
            (std::map<TenantId, std::uint64_t>{{"acme", 2}, {"", 1}}));
  ASSERT_TRUE(revive({.delivery_id = a.id, .now = script_.now}).has_value());
  EXPECT_EQ(history().dead_letter_counts()->at("acme"), 1u);
}

}  // namespace postrider::test
