// Late deliveries: made after their event was published.
#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

std::vector<std::int64_t> sequences(const Result<Listed<DeliveryRecord>>& listed) {
  std::vector<std::int64_t> result;
  for (const DeliveryRecord& record : listed->items) {
    result.push_back(record.delivery.sequence);
  }
  return result;
}

}  // namespace

using Sequences = std::vector<std::int64_t>;

TEST_P(LateDeliveryContract, GoesToTheEndOfTheLane) {
  const Delivery early = accept(first_);
  const Publish missed = script_.publish({});
  commit({.publishes = {missed}});
  const Delivery later = accept(first_);
  script_.now += Millis{10};
  const std::optional<Delivery> late = add_late_delivery(missed.event.id, first_);
  ASSERT_TRUE(late.has_value());
  EXPECT_GT(late->sequence, later.sequence);
  EXPECT_GT(accept(first_).sequence, late->sequence);
  const LanePage page = load(
      {.webhook_id = first_, .ordering = Ordering::strict, .due_before = script_.now, .limit = 3});
  EXPECT_EQ(page.deliveries, (std::vector<Delivery>{early, later, *late}));
  const DeliveryRecord stored = record(late->id);
  EXPECT_EQ(stored.delivery, *late);
  EXPECT_EQ(stored.created_at, script_.now);
  EXPECT_EQ(stored.tenant_id, "acme");
}

TEST_P(LateDeliveryContract, IsIgnoredIfTheWebhookHasOneOrTheEventIsUnknown) {
  const Publish event = script_.publish({first_});
  commit({.publishes = {event}});
  EXPECT_EQ(add_late_delivery(event.event.id, first_), std::nullopt);
  EXPECT_TRUE(add_late_delivery(event.event.id, second_).has_value());
  EXPECT_EQ(add_late_delivery(event.event.id, second_), std::nullopt);
  EXPECT_EQ(add_late_delivery(script_.publish({}).event.id, first_), std::nullopt);
  const Publish twice = script_.publish({});
  const BatchReceipt receipt =
      commit({.publishes = {twice},
              .late_deliveries = {script_.add_late_delivery(twice.event.id, first_),
                                  script_.add_late_delivery(twice.event.id, first_)}});
  EXPECT_TRUE(receipt.late_deliveries.at(0).has_value());
  EXPECT_EQ(receipt.late_deliveries.at(1), std::nullopt);
}

TEST_P(LateDeliveryContract, IsListedWithTheOtherDeliveriesOfItsEvent) {
  const Publish event = script_.publish({first_});
  const BatchReceipt receipt = commit({.publishes = {event}});
  const Delivery own = std::get<Accepted>(receipt.publishes.front()).deliveries.front();
  accept(first_);
  const Delivery late = *add_late_delivery(event.event.id, second_);
  const DeliveryFilter filter{.event_id = event.event.id};
  EXPECT_EQ(sequences(history().list_deliveries(filter, {})),
            (Sequences{late.sequence, own.sequence}));
  const auto first = history().list_deliveries(filter, {.limit = 1});
  EXPECT_EQ(sequences(first), Sequences{late.sequence});
  EXPECT_EQ(sequences(history().list_deliveries(filter, {.before = first->next})),
            Sequences{own.sequence});
  EXPECT_EQ(sequences(history().list_deliveries(filter, {.limit = 5, .offset = 1})),
            Sequences{own.sequence});
  EXPECT_EQ(sequences(history().list_deliveries(
                {.webhook_ids = {second_}, .event_id = event.event.id}, {})),
            Sequences{late.sequence});
  EXPECT_EQ(sequences(history().list_deliveries({.webhook_ids = {second_}}, {})),
            Sequences{late.sequence});
  EXPECT_EQ(history().count_deliveries(filter, {})->count, 2u);
}

TEST_P(LateDeliveryContract, MakesItsEventUnfinished) {
  const PublishOptions keyed{.key = "k"};
  const Publish event = script_.publish({}, keyed);
  commit({.publishes = {event}});
  EXPECT_TRUE(std::get<Duplicate>(publish({}, keyed)).finished);
  const Delivery late = *add_late_delivery(event.event.id, first_);
  const Duplicate waiting = std::get<Duplicate>(publish({}, keyed));
  EXPECT_FALSE(waiting.finished);
  EXPECT_EQ(waiting.first_deliveries, 0u);  // As in the first receipt.
  settle(script_.success(late));
  EXPECT_TRUE(std::get<Duplicate>(publish({}, keyed)).finished);
}

TEST_P(LateDeliveryContract, MakesItsEventMatched) {
  const Publish lonely = script_.publish({});
  const Publish other = script_.publish({}, {.tenant_id = "other"});
  const Publish wanted = script_.publish({first_});
  commit({.publishes = {lonely, other, wanted}});
  const auto list = [this](const EventFilter& filter) {
    std::vector<EventId> ids;
    const auto listed = history().list_events(filter, {});
    for (const Event& event : listed->items) {
      ids.push_back(event.id);
    }
    return ids;
  };
  using Ids = std::vector<EventId>;
  EXPECT_EQ(list({.matched = false}), (Ids{other.event.id, lonely.event.id}));
  EXPECT_EQ(list({.tenant_id = "acme", .matched = false}), Ids{lonely.event.id});
  EXPECT_EQ(list({.matched = true}), Ids{wanted.event.id});
  add_late_delivery(lonely.event.id, first_);
  EXPECT_EQ(list({.matched = false}), Ids{other.event.id});
  EXPECT_EQ(list({.matched = true}), (Ids{wanted.event.id, lonely.event.id}));
}

TEST_P(LateDeliveryContract, SurvivesARestart) {
  const Publish event = script_.publish({});
  commit({.publishes = {event}});
  const Delivery late = *add_late_delivery(event.event.id, first_);
  store_->reopen();
  EXPECT_EQ(record(late.id).delivery, late);
  EXPECT_GT(accept(first_).sequence, late.sequence);
  EXPECT_EQ(add_late_delivery(event.event.id, first_), std::nullopt);
}

TEST_P(LateDeliveryContract, KeepsItsEventAndIsRemovedWithIt) {
  const Publish event = script_.publish({first_});
  const BatchReceipt receipt = commit({.publishes = {event}});
  const Delivery own = std::get<Accepted>(receipt.publishes.front()).deliveries.front();
  settle(script_.success(own));
  const Delivery late = *add_late_delivery(event.event.id, second_);
  const WallTime later = script_.now + std::chrono::hours{24 * 365};
  const RetentionCutoffs cutoffs{.now = later, .events = later, .dead_letters = later};
  EXPECT_TRUE(retention_reader().expired_events({.cutoffs = cutoffs})->items.empty());
  EXPECT_EQ(retention_writer().remove({{own.sequence, std::nullopt}}, cutoffs)->events, 0u);
  settle(script_.success(late));
  const Result<ExpiredPage> page = retention_reader().expired_events({.cutoffs = cutoffs});
  ASSERT_EQ(page->items.size(), 1u);
  EXPECT_EQ(page->items.front().deliveries.size(), 2u);
  const Result<Removed> removed = retention_writer().remove({key_of(page->items.front())}, cutoffs);
  EXPECT_EQ(removed->events, 1u);
  EXPECT_EQ(removed->deliveries, 2u);
  EXPECT_EQ(removed->attempts, 2u);
  EXPECT_EQ(history().find_delivery(late.id).error().code, Errc::not_found);
  store_->reopen();
  EXPECT_GT(accept(first_).sequence, late.sequence);
}

// ---------------------------------------------------------------- events for a replay

TEST_P(LateDeliveryContract, ListsEventsForAReplayOldestFirstWithTheirDeliveries) {
  const Publish had = script_.publish({second_, first_});
  const Publish missed = script_.publish({second_}, {.type = "x"});
  const Publish foreign = script_.publish({}, {.tenant_id = "other"});
  script_.now += Millis{10};
  const Publish missing = script_.publish({});
  const BatchReceipt receipt = commit({.publishes = {had, missed, foreign, missing}});
  const Delivery own = std::get<Accepted>(receipt.publishes.at(0)).deliveries.at(1);
  const Delivery late = *add_late_delivery(missing.event.id, first_);

  const auto all = history().list_events_for(first_, {.tenant_id = "acme"}, {});
  ASSERT_TRUE(all.has_value());
  ASSERT_EQ(all->items.size(), 3u);
  EXPECT_EQ(all->next, std::nullopt);
  EXPECT_EQ(as_published(all->items.at(0).event), had.event);
  EXPECT_EQ(all->items.at(0).delivery->delivery, own);
  EXPECT_EQ(as_published(all->items.at(1).event), missed.event);
  EXPECT_EQ(all->items.at(1).delivery, std::nullopt);
  EXPECT_EQ(all->items.at(2).delivery->delivery, late);

  const auto page = history().list_events_for(first_, {.tenant_id = "acme"}, {.limit = 2});
  EXPECT_EQ(page->items.size(), 2u);
  const auto rest =
      history().list_events_for(first_, {.tenant_id = "acme"}, {.after = *page->next, .limit = 2});
  ASSERT_EQ(rest->items.size(), 1u);
  EXPECT_EQ(as_published(rest->items.front().event), missing.event);
  EXPECT_EQ(rest->next, std::nullopt);
  EXPECT_EQ(history().list_events_for(first_, {.types = {"x"}}, {})->items.size(), 1u);
  EXPECT_EQ(history().list_events_for(first_, {.from = script_.now}, {})->items.size(), 1u);
  EXPECT_EQ(history().list_events_for(first_, {.to = script_.now}, {})->items.size(), 3u);
  const WebhookId nobody = StoreScript::webhook(9);
  EXPECT_EQ(history().list_events_for(nobody, {}, {})->items.front().delivery, std::nullopt);
}

// ---------------------------------------------------------------- bounded work

/// Calls `step` until it returns nullopt. Each call reads only a few rows.
template <class Step>
Sequences walk(Step step) {
  Sequences found;
  std::optional<std::int64_t> cursor;
  for (int calls = 0; calls < 1'000; ++calls) {
    const std::optional<std::int64_t> next = step(cursor, found);
    if (!next) {
      return found;
    }
    EXPECT_NE(next, cursor) << "the call made no progress";
    cursor = next;
  }
  ADD_FAILURE() << "the list does not end";
  return found;
}

TEST_P(LateDeliveryContract, DeliveryListsWithABoundedScanReturnEverythingOnce) {
  const DeadReason why{Classification::recoverable, "max_attempts_exceeded"};
  for (int i = 0; i < 40; ++i) {
    const bool rare = i % 13 == 0;
    const Delivery made =
        accept(i % 3 == 0 ? first_ : second_,
               {.type = rare ? "rare" : "common", .tenant_id = i % 2 == 0 ? "acme" : ""});
    if (i % 4 == 0) {
      settle(script_.death(made, why));
    }
  }
  const DeliveryFilter filters[] = {
      {},
      {.event_types = {"rare"}},
      {.tenant_id = "acme", .event_types = {"rare"}},
      {.event_types = {"rar.*", "rare"}},
      {.webhook_ids = {first_}, .event_types = {"rare"}},
      {.webhook_ids = {first_, second_}, .event_types = {"rare"}},
      {.states = {DeliveryState::dead_letter}, .event_types = {"rare"}},
      {.tenant_id = "acme", .states = {DeliveryState::dead_letter}, .event_types = {"rare"}},
      {.webhook_ids = {second_, first_}, .states = {DeliveryState::dead_letter}},
      {.from = script_.now + Millis{1}},
  };
  for (const DeliveryFilter& filter : filters) {
    const Sequences expected = sequences(history().list_deliveries(filter, {.limit = 250}));
    ASSERT_EQ(expected.empty(), filter.from.has_value());
    const auto page_by_page = [&](std::optional<std::int64_t> before, Sequences& found) {
      const auto page =
          history().list_deliveries(filter, {.limit = 2, .before = before, .scanned_max = 3});
      const Sequences part = sequences(page);
      EXPECT_LE(part.size(), 2u);
      found.insert(found.end(), part.begin(), part.end());
      return page->next;
    };
    EXPECT_EQ(walk(page_by_page), expected);
    std::uint64_t count = 0;
    const auto count_in_steps = [&](std::optional<std::int64_t> before, Sequences&) {
      const auto part = history().count_deliveries(filter, {.before = before, .scanned_max = 3});
      count += part->count;
      return part->next;
    };
    walk(count_in_steps);
    EXPECT_EQ(count, expected.size());
  }
}

TEST_P(LateDeliveryContract, EventListsWithABoundedScanReturnEverythingOnce) {
  for (int i = 0; i < 30; ++i) {
    publish(i % 5 == 0 ? std::vector<WebhookId>{} : std::vector{first_, second_},
            {.type = i % 7 == 0 ? "rare" : "common", .tenant_id = i % 2 == 0 ? "acme" : ""});
  }
  const EventFilter filters[] = {{},
                                 {.types = {"rare"}},
                                 {.tenant_id = "acme", .types = {"rare"}},
                                 {.matched = false},
                                 {.tenant_id = "acme", .matched = false},
                                 {.matched = true}};
  for (const EventFilter& filter : filters) {
    const auto all = history().list_events_for(first_, filter, {.limit = 250});
    Sequences expected;
    for (const EventForWebhook& item : all->items) {
      expected.push_back(item.sequence);
    }
    ASSERT_FALSE(expected.empty());
    const auto forward = [&](std::optional<std::int64_t> after, Sequences& found) {
      const auto page = history().list_events_for(
          first_, filter, {.after = after.value_or(0), .limit = 2, .scanned_max = 3});
      for (const EventForWebhook& item : page->items) {
        found.push_back(item.sequence);
      }
      return page->next;
    };
    EXPECT_EQ(walk(forward), expected);
    std::size_t listed = 0;
    walk([&](std::optional<std::int64_t> before, Sequences&) {
      const auto page =
          history().list_events(filter, {.limit = 2, .before = before, .scanned_max = 3});
      listed += page->items.size();
      return page->next;
    });
    EXPECT_EQ(listed, expected.size());
  }
}

}  // namespace postrider::test
