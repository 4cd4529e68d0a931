// Publishes in a commit: events and their deliveries, idempotency keys, atomic groups.
#include <string>
#include <variant>

#include "tests/contract/store_contract.h"

namespace postrider::test {

TEST_P(PublishContract, EmptyBatchSucceeds) {
  const BatchReceipt receipt = commit({});
  EXPECT_TRUE(receipt.publishes.empty());
}

TEST_P(PublishContract, AcceptedPublishHasOneSequencePerDelivery) {
  const Publish wanted = script_.publish({first_, second_});
  const BatchReceipt receipt = commit({.publishes = {wanted}});
  const auto& deliveries = std::get<Accepted>(receipt.publishes.at(0)).deliveries;

  ASSERT_EQ(deliveries.size(), 2u);
  EXPECT_LT(0, deliveries[0].sequence);
  EXPECT_LT(deliveries[0].sequence, deliveries[1].sequence);
  for (std::size_t i = 0; i < 2; ++i) {
    Delivery expected = wanted.deliveries[i];
    expected.sequence = deliveries[i].sequence;
    EXPECT_EQ(deliveries[i], expected);
    EXPECT_EQ(record(expected.id).delivery, expected);
  }
}

TEST_P(PublishContract, SequencesGrowInCommitOrderAcrossReopening) {  // P4
  const std::int64_t a = accept(first_).sequence;
  publish({});
  const std::int64_t b = accept(second_).sequence;
  store_->reopen();
  const std::int64_t c = accept(first_).sequence;
  EXPECT_LT(a, b);
  EXPECT_LT(b, c);
}

TEST_P(PublishContract, EventIsStoredByteForByte) {
  Publish publish = script_.publish({first_});
  publish.event.data = "{\"b\" : 1.50,\t\"a\":[\"\\u0000\", \"\xc3\xa9\"] }";
  publish.event.metadata = "{ \"k\": \"v\" }";
  publish.event.resource_id = "";
  publish.event.source = "shop";
  publish.event.ordering_key = "order-1";
  publish.event.priority = Priority::high;
  commit({.publishes = {publish}});

  store_->reopen();
  const Result<std::vector<Event>> events = ledger().load_events({publish.event.id});
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ(as_published(events->front()), publish.event);
}

TEST_P(PublishContract, StoresALargeEvent) {
  const std::string large = '"' + std::string(300'000, 'x') + '"';
  const Publish publish = script_.publish({first_}, {.data = large});
  commit({.publishes = {publish}});
  const Result<std::vector<Event>> events = ledger().load_events({publish.event.id});
  ASSERT_TRUE(events.has_value());
  EXPECT_EQ(events->at(0).data, large);
}

TEST_P(PublishContract, LoadsEventsInTheRequestedOrderWithoutMissingOnes) {
  const Publish a = script_.publish({first_});
  const Publish b = script_.publish({});
  const Publish never = script_.publish({first_});
  commit({.publishes = {a, b}});
  const Result<std::vector<Event>> events =
      ledger().load_events({b.event.id, never.event.id, a.event.id});
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ(as_published(events->at(0)), b.event);
  EXPECT_EQ(as_published(events->at(1)), a.event);
}

TEST_P(PublishContract, SequenceOfAnEventIsItsPublishOrderAndNeverChanges) {
  const Publish a = script_.publish({first_, second_});
  const Publish none = script_.publish({});
  const Publish b = script_.publish({first_});
  const BatchReceipt receipt = commit({.publishes = {a, none, b}});
  const std::int64_t first = std::get<Accepted>(receipt.publishes[0]).deliveries.front().sequence;
  const std::vector<EventId> ids{a.event.id, none.event.id, b.event.id};
  for (int time = 0; time < 2; ++time) {
    const Result<std::vector<Event>> events = ledger().load_events(ids);
    ASSERT_TRUE(events.has_value());
    EXPECT_EQ(events->at(0).sequence, first);
    EXPECT_EQ(events->at(1).sequence, first + 2);
    EXPECT_EQ(events->at(2).sequence, first + 3);
    EXPECT_EQ(history().find_event(b.event.id)->sequence, first + 3);
    store_->reopen();
  }
}

// ---------------------------------------------------------------- waiting count

TEST_P(PublishContract, ReceiptHasTheChangeOfTheWaitingCount) {
  PriorityCounts waiting;
  const auto of_tenant = [](const PriorityCounts& counts) {
    TenantCounts all{{{"acme", counts}}};
    all.remove_zeros();
    return all;
  };
  const auto expect_change = [&](const BatchReceipt& receipt, const PriorityCounts& change) {
    EXPECT_EQ(receipt.waiting_change, of_tenant(change));
    waiting += change;
    EXPECT_EQ(*ledger().count_waiting(), of_tenant(waiting));
    EXPECT_EQ(*history().waiting_counts(), of_tenant(waiting));
  };
  const PriorityCounts none;
  EXPECT_EQ(*ledger().count_waiting(), TenantCounts{});
  const Publish publish = script_.publish({first_, second_, first_}, {.key = "k"});
  Publish urgent = script_.publish({first_});
  urgent.deliveries[0].priority = Priority::high;
  const BatchReceipt published = commit({.publishes = {publish, script_.publish({}), urgent}});
  expect_change(published, {{1, 3, 0}});
  expect_change(commit({.publishes = {publish}}), none);  // A duplicate.

  const std::vector<Delivery> deliveries = std::get<Accepted>(published.publishes[0]).deliveries;
  expect_change(commit({.settlements = {script_.retry(deliveries[0], script_.now)}}), none);
  const Settlement done = script_.success(deliveries[1]);
  expect_change(commit({.settlements = {done}}), {{0, -1, 0}});
  expect_change(commit({.settlements = {done}}), none);  // Repeated after a lost answer.

  Revive revival{.delivery_id = deliveries[1].id, .now = script_.now, .priority = {}};
  expect_change(commit({.revivals = {revival}}), {{0, 1, 0}});
  expect_change(commit({.revivals = {revival}}), none);  // It is already waiting.
  revival.priority = Priority::low;
  expect_change(commit({.revivals = {revival}}), {{0, -1, 1}});
  const Cancel cancel{.delivery_id = deliveries[1].id, .now = script_.now};
  expect_change(commit({.cancels = {cancel}}), {{0, 0, -1}});
  expect_change(commit({.cancels = {cancel}}), none);

  Delivery tried = deliveries[0];
  tried.attempt_count = 1;
  expect_change(commit({.settlements = {script_.death(tried, {})}}), {{0, -1, 0}});
  const Cancel discard{
      .delivery_id = deliveries[0].id, .now = script_.now, .of = CancelOf::dead_letter};
  expect_change(commit({.cancels = {discard}}), none);
  store_->reopen();
  EXPECT_EQ(*ledger().count_waiting(), of_tenant({{1, 1, 0}}));
  EXPECT_EQ(*catalog().cancel_waiting(first_, script_.now, 9), of_tenant({{1, 1, 0}}));
}

TEST_P(PublishContract, WaitingDeliveriesAreCountedForTheTenantOfTheirEvent) {
  const auto publish_for = [this](const TenantId& tenant_id) {
    Publish publish = script_.publish({first_});  // The webhook moves from tenant to tenant.
    publish.event.tenant_id = tenant_id;
    const BatchReceipt receipt = commit({.publishes = {publish}});
    EXPECT_EQ(receipt.waiting_change, (TenantCounts{{{tenant_id, {{0, 1, 0}}}}}));
    return std::get<Accepted>(receipt.publishes.front()).deliveries.front();
  };
  const Delivery before = publish_for("before");
  const Delivery moved = publish_for("after");
  publish_for("after");
  EXPECT_EQ(*ledger().count_waiting(),
            (TenantCounts{{{"before", {{0, 1, 0}}}, {"after", {{0, 2, 0}}}}}));
  EXPECT_EQ(commit({.settlements = {script_.success(before)}}).waiting_change,
            (TenantCounts{{{"before", {{0, -1, 0}}}}}));
  EXPECT_EQ(commit({.settlements = {script_.success(moved)}}).waiting_change,
            (TenantCounts{{{"after", {{0, -1, 0}}}}}));
  const Revive revival{.delivery_id = before.id, .now = script_.now, .priority = {}};
  EXPECT_EQ(commit({.revivals = {revival}}).waiting_change,
            (TenantCounts{{{"before", {{0, 1, 0}}}}}));
  store_->reopen();
  const TenantCounts left{{{"before", {{0, 1, 0}}}, {"after", {{0, 1, 0}}}}};
  EXPECT_EQ(*ledger().count_waiting(), left);
  EXPECT_EQ(*catalog().cancel_waiting(first_, script_.now, 9), left);
  EXPECT_EQ(*ledger().count_waiting(), TenantCounts{});
}

// ---------------------------------------------------------------- idempotency (P3)

TEST_P(PublishContract, SameKeyTwiceIsOneEvent) {
  const Publish first = script_.publish({first_, second_}, {.key = "k"});
  const Publish second = script_.publish({first_, second_}, {.key = "k"});
  commit({.publishes = {first}});
  const BatchReceipt receipt = commit({.publishes = {second}});

  const Duplicate duplicate = std::get<Duplicate>(receipt.publishes.at(0));
  EXPECT_EQ(duplicate.first_id, first.event.id);
  EXPECT_EQ(duplicate.first_deliveries, 2u);
  EXPECT_TRUE(duplicate.same_body);
  EXPECT_FALSE(duplicate.finished);
  EXPECT_EQ(history().find_event(second.event.id).error().code, Errc::not_found);
}

TEST_P(PublishContract, SameKeyTwiceInOneBatchIsOneEvent) {
  const Publish first = script_.publish({first_}, {.key = "k"});
  const Publish second = script_.publish({first_}, {.key = "k", .body_digest = "other"});
  const BatchReceipt receipt = commit({.publishes = {first, second}});
  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(0)));
  const Duplicate duplicate = std::get<Duplicate>(receipt.publishes.at(1));
  EXPECT_EQ(duplicate.first_id, first.event.id);
  EXPECT_FALSE(duplicate.same_body);
}

TEST_P(PublishContract, KeySurvivesReopening) {
  publish({first_}, {.key = "k"});
  store_->reopen();
  EXPECT_TRUE(std::holds_alternative<Duplicate>(publish({first_}, {.key = "k"})));
}

TEST_P(PublishContract, KeyBelongsToItsTenant) {
  publish({first_}, {.tenant_id = "acme", .key = "k"});
  EXPECT_TRUE(
      std::holds_alternative<Accepted>(publish({first_}, {.tenant_id = "other", .key = "k"})));
}

TEST_P(PublishContract, EventIsFinishedWhenNoneOfItsDeliveriesWaits) {
  const PublishReceipt first = publish({first_, second_}, {.key = "k"});
  const std::vector<Delivery> deliveries = std::get<Accepted>(first).deliveries;
  settle(script_.success(deliveries[0]));
  EXPECT_FALSE(std::get<Duplicate>(publish({first_}, {.key = "k"})).finished);
  settle(script_.death(deliveries[1], {Classification::permanent, "http_404"}));
  EXPECT_TRUE(std::get<Duplicate>(publish({first_}, {.key = "k"})).finished);
}

TEST_P(PublishContract, EventWithoutDeliveriesIsFinishedAtOnce) {
  publish({}, {.key = "k"});
  const Duplicate duplicate = std::get<Duplicate>(publish({}, {.key = "k"}));
  EXPECT_TRUE(duplicate.finished);
  EXPECT_EQ(duplicate.first_deliveries, 0u);
}

TEST_P(PublishContract, KeyIsFreeAgainWhenItsClaimExpires) {
  publish({first_}, {.key = "k"});
  script_.now += StoreScript::claim_life - Millis{1};
  EXPECT_TRUE(std::holds_alternative<Duplicate>(publish({first_}, {.key = "k"})));
  script_.now += Millis{1};
  EXPECT_TRUE(std::holds_alternative<Accepted>(publish({first_}, {.key = "k"})));
  EXPECT_TRUE(std::holds_alternative<Duplicate>(publish({first_}, {.key = "k"})));
}

TEST_P(PublishContract, ManyKeysExpireAndAreReused) {
  for (int day = 0; day < 3; ++day) {
    for (int i = 0; i < 20; ++i) {
      const std::string key = "k" + std::to_string(i);
      EXPECT_TRUE(std::holds_alternative<Accepted>(publish({}, {.key = key}))) << key;
      EXPECT_TRUE(std::holds_alternative<Duplicate>(publish({}, {.key = key}))) << key;
    }
    script_.now += StoreScript::claim_life;
  }
}

TEST_P(PublishContract, AtomicGroupIsStoredAsAWhole) {
  const BatchReceipt receipt =
      commit({.publishes = {script_.publish({first_}, {.key = "a", .atomic_group = 5}),
                            script_.publish({first_}, {.atomic_group = 5}),
                            script_.publish({first_}, {.key = "a", .atomic_group = 5})}});
  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(0)));
  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(1)));
  EXPECT_TRUE(std::get<Duplicate>(receipt.publishes.at(2)).same_body);
}

TEST_P(PublishContract, RepeatsWithinAGroupReferToTheFirst) {
  const Publish first = script_.publish({first_}, {.key = "k", .atomic_group = 5});
  const BatchReceipt receipt =
      commit({.publishes = {first, script_.publish({}, {.key = "k", .atomic_group = 5}),
                            script_.publish({}, {.key = "k", .atomic_group = 5})}});
  for (const std::size_t i : {1u, 2u}) {
    const Duplicate duplicate = std::get<Duplicate>(receipt.publishes.at(i));
    EXPECT_EQ(duplicate.first_id, first.event.id);
    EXPECT_EQ(duplicate.first_deliveries, 1u);
    EXPECT_FALSE(duplicate.finished);
  }
}

TEST_P(PublishContract, KeyReusedWithAnotherBodyRefusesItsAtomicGroup) {
  publish({first_}, {.key = "used"});
  publish({first_}, {.key = "repeated"});
  const Publish outside = script_.publish({second_});
  const Publish fresh = script_.publish({first_}, {.key = "fresh", .atomic_group = 5});
  const Publish repeated = script_.publish({first_}, {.key = "repeated", .atomic_group = 5});
  const Publish repeated_in_group = script_.publish({first_}, {.key = "fresh", .atomic_group = 5});
  const Publish reused =
      script_.publish({first_}, {.key = "used", .body_digest = "other", .atomic_group = 5});
  const Publish next_group = script_.publish({second_}, {.atomic_group = 6});
  const BatchReceipt receipt =
      commit({.publishes = {outside, fresh, repeated, repeated_in_group, reused, next_group}});

  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(0)));
  EXPECT_TRUE(std::holds_alternative<Refused>(receipt.publishes.at(1)));
  EXPECT_TRUE(std::get<Duplicate>(receipt.publishes.at(2)).same_body);
  EXPECT_TRUE(std::holds_alternative<Refused>(receipt.publishes.at(3)));
  EXPECT_FALSE(std::get<Duplicate>(receipt.publishes.at(4)).same_body);
  EXPECT_TRUE(std::holds_alternative<Accepted>(receipt.publishes.at(5)));
  EXPECT_EQ(history().find_event(fresh.event.id).error().code, Errc::not_found);
  EXPECT_TRUE(std::holds_alternative<Accepted>(publish({first_}, {.key = "fresh"})));
}

TEST_P(PublishContract, KeyReusedWithinItsAtomicGroupRefusesTheGroup) {
  const Publish first = script_.publish({first_}, {.key = "k", .atomic_group = 5});
  const Publish second =
      script_.publish({first_}, {.key = "k", .body_digest = "other", .atomic_group = 5});
  const BatchReceipt receipt = commit({.publishes = {first, second}});
  EXPECT_TRUE(std::holds_alternative<Refused>(receipt.publishes.at(0)));
  EXPECT_FALSE(std::get<Duplicate>(receipt.publishes.at(1)).same_body);
  EXPECT_TRUE(std::holds_alternative<Accepted>(publish({first_}, {.key = "k"})));
}

}  // namespace postrider::test
