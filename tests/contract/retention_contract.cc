// Removing expired events, dead letters and statistics.
#include <chrono>
#include <set>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

using std::chrono::hours;

// A dead letter's age counts from the end of its last attempt, which takes less than this.
constexpr Millis attempt_duration_max = std::chrono::minutes{1};
constexpr RetentionAges ages{
    .events = hours{90}, .dead_letters = hours{30}, .removed_webhooks = hours{20}};
const DeadReason gone{Classification::permanent, "permanent_client_error_404"};

std::vector<ExpiredKey> keys(const ExpiredPage& page) {
  std::vector<ExpiredKey> found;
  for (const ExpiredEvent& expired : page.items) {
    found.push_back(key_of(expired));
  }
  return found;
}

std::vector<std::int64_t> sequences(const ExpiredPage& page) {
  std::vector<std::int64_t> found;
  for (const ExpiredEvent& expired : page.items) {
    found.push_back(expired.sequence);
  }
  return found;
}

using Sequences = std::vector<std::int64_t>;

}  // namespace

/// Finds and removes what has expired at `now`.
class RetentionSweep {
 public:
  RetentionSweep(RetentionReader& reader, RetentionWriter& writer, WallTime now)
      : retention_reader_(reader), retention_writer_(writer), cutoffs_(cutoffs_at(ages, now)) {}

  ExpiredPage events(std::uint32_t limit = 200, std::int64_t after = 0) {
    return retention_reader_.expired_events({.cutoffs = cutoffs_, .after = after, .limit = limit})
        .value();
  }
  ExpiredPage dead_letters(std::uint32_t limit = 200, std::int64_t after = 0) {
    return retention_reader_
        .expired_dead_letters({.cutoffs = cutoffs_, .after = after, .limit = limit})
        .value();
  }
  Removed remove(const ExpiredPage& page) {
    return retention_writer_.remove(keys(page), cutoffs_).value();
  }
  std::optional<WebhookId> webhook(std::optional<WebhookId> after = std::nullopt) {
    return retention_reader_.expired_webhook(cutoffs_, after).value();
  }
  ExpiredPage deliveries_of(WebhookId id, std::uint32_t limit = 200, std::int64_t after = 0) {
    return retention_reader_
        .deliveries_of_removed(
            {.cutoffs = cutoffs_, .after = after, .limit = limit, .webhook_id = id})
        .value();
  }
  Removed remove_events() { return remove(events()); }
  Removed remove_dead_letters() { return remove(dead_letters()); }

 private:
  RetentionReader& retention_reader_;
  RetentionWriter& retention_writer_;
  RetentionCutoffs cutoffs_;
};

#define POSTRIDER_SWEEP RetentionSweep(retention_reader(), retention_writer(), script_.now)

TEST_P(RetentionContract, NothingHasExpiredInAnEmptyOrYoungStore) {
  EXPECT_TRUE(POSTRIDER_SWEEP.events().items.empty());
  settle(script_.success(accept(first_)));
  script_.now += hours{89};
  EXPECT_TRUE(POSTRIDER_SWEEP.events().items.empty());
  EXPECT_EQ(POSTRIDER_SWEEP.events().next, std::nullopt);
  EXPECT_TRUE(POSTRIDER_SWEEP.dead_letters().items.empty());
  EXPECT_EQ(retention_writer().remove({}, cutoffs_at(ages, script_.now)).value(), Removed{});
  EXPECT_EQ(retention_writer().remove({{.sequence = 99}}, cutoffs_at(ages, script_.now)).value(),
            Removed{})
      << "unknown keys are ignored";
}

TEST_P(RetentionContract, ExpiredEventIsReadAndRemovedWithItsDeliveriesAndAttempts) {
  const std::vector<Delivery> deliveries =
      std::get<Accepted>(publish({first_, second_}, {.data = R"({"n":  7})"})).deliveries;
  const Settlement first_try = script_.retry(deliveries[0], script_.now);
  settle(first_try);
  Delivery again = deliveries[0];
  again.attempt_count = 1;
  const Settlement second_try = script_.success(again);
  settle(second_try);
  settle(script_.success(deliveries[1]));
  script_.now += hours{90};

  const ExpiredPage page = POSTRIDER_SWEEP.events();
  ASSERT_EQ(page.items.size(), 1u);
  const ExpiredEvent& expired = page.items.front();
  EXPECT_EQ(expired.sequence, deliveries[0].sequence);
  EXPECT_EQ(expired.event.id, deliveries[0].event_id);
  EXPECT_EQ(expired.event.data, R"({"n":  7})");
  ASSERT_EQ(expired.deliveries.size(), 2u);
  EXPECT_EQ(expired.deliveries[0].record, record(deliveries[0].id));
  EXPECT_EQ(expired.deliveries[0].attempts,
            (std::vector<Attempt>{*first_try.attempt, *second_try.attempt}));
  EXPECT_EQ(expired.deliveries[1].attempts.size(), 1u);

  EXPECT_EQ(POSTRIDER_SWEEP.remove(page),
            (Removed{.events = 1, .deliveries = 2, .attempts = 3, .dead_letters = {}}));
  EXPECT_EQ(history().find_event(expired.event.id).error().code, Errc::not_found);
  EXPECT_EQ(history().find_delivery(deliveries[0].id).error().code, Errc::not_found);
  EXPECT_TRUE(attempts(deliveries[0].id).empty());
  EXPECT_EQ(*history().list_deliveries({}, {}), Listed<DeliveryRecord>{});
  EXPECT_EQ(*history().list_events({}, {}), Listed<Event>{});
  EXPECT_EQ(POSTRIDER_SWEEP.remove(page), Removed{}) << "already removed";
}

TEST_P(RetentionContract, WithoutContentOnlyTheKeysAreRead) {
  const Delivery delivery = accept(first_);
  settle(script_.success(delivery));
  script_.now += hours{90};
  const ExpiredPage page =
      retention_reader()
          .expired_events({.cutoffs = cutoffs_at(ages, script_.now), .with_content = false})
          .value();
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].sequence, delivery.sequence);
  EXPECT_TRUE(page.items[0].deliveries.empty());
  EXPECT_TRUE(page.items[0].event.data.empty());
}

TEST_P(RetentionContract, PagesFollowEachOther) {
  Sequences all;
  for (int i = 0; i < 5; ++i) {
    const Delivery delivery = accept(first_);
    settle(script_.success(delivery));
    all.push_back(delivery.sequence);
  }
  script_.now += hours{90};
  const Delivery young = accept(first_);
  const ExpiredPage first = POSTRIDER_SWEEP.events(2);
  EXPECT_EQ(sequences(first), (Sequences{all[0], all[1]}));
  const ExpiredPage second = POSTRIDER_SWEEP.events(2, first.next.value());
  EXPECT_EQ(sequences(second), (Sequences{all[2], all[3]}));
  const ExpiredPage third = POSTRIDER_SWEEP.events(2, second.next.value());
  EXPECT_EQ(sequences(third), (Sequences{all[4]}));
  if (third.next) {
    const ExpiredPage last = POSTRIDER_SWEEP.events(2, *third.next);
    EXPECT_TRUE(last.items.empty());
    EXPECT_EQ(last.next, std::nullopt);
  }
  EXPECT_GT(young.sequence, all[4]);
}

TEST_P(RetentionContract, WaitingDeliveriesAndYoungDeadLettersKeepTheirEvent) {
  accept(first_);
  const Delivery dead = accept(first_);
  script_.now += hours{80};
  settle(script_.death(dead, gone));
  script_.now += hours{29};
  EXPECT_TRUE(POSTRIDER_SWEEP.events().items.empty());
  script_.now += hours{1} + attempt_duration_max;
  EXPECT_EQ(sequences(POSTRIDER_SWEEP.events()), (Sequences{dead.sequence}));
  EXPECT_EQ(POSTRIDER_SWEEP.remove_events(),
            (Removed{.events = 1, .deliveries = 1, .attempts = 1, .dead_letters = {{"acme", 1}}}));
}

TEST_P(RetentionContract, ExpiredDeadLetterIsRemovedWithoutItsEvent) {
  const std::vector<Delivery> deliveries =
      std::get<Accepted>(publish({first_, second_})).deliveries;
  settle(script_.death(deliveries[0], gone));
  settle(script_.success(deliveries[1]));
  script_.now += hours{31};
  EXPECT_TRUE(POSTRIDER_SWEEP.events().items.empty());
  const ExpiredPage page = POSTRIDER_SWEEP.dead_letters();
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].event.id, deliveries[0].event_id);
  EXPECT_EQ(page.items[0].only_delivery, deliveries[0].sequence);
  ASSERT_EQ(page.items[0].deliveries.size(), 1u);
  EXPECT_EQ(page.items[0].deliveries[0].attempts.size(), 1u);
  EXPECT_EQ(POSTRIDER_SWEEP.remove(page),
            (Removed{.events = 0, .deliveries = 1, .attempts = 1, .dead_letters = {{"acme", 1}}}));

  EXPECT_EQ(history().find_delivery(deliveries[0].id).error().code, Errc::not_found);
  EXPECT_TRUE(history().find_event(deliveries[0].event_id).has_value());
  EXPECT_EQ(history().list_deliveries({.event_id = deliveries[0].event_id}, {})->items.size(), 1u);
  script_.now += hours{60};
  EXPECT_EQ(POSTRIDER_SWEEP.remove_events().deliveries, 1u) << "the rest is removed with the event";
}

TEST_P(RetentionContract, ListsExpiredDeadLettersInPages) {
  Sequences all;
  for (int i = 0; i < 5; ++i) {
    const Delivery delivery = accept(first_);
    settle(script_.death(delivery, gone));
    all.push_back(delivery.sequence);
    accept(second_);
  }
  script_.now += hours{30} + attempt_duration_max;
  const Delivery young = accept(first_);
  settle(script_.death(young, gone));
  Sequences found;
  std::optional<std::int64_t> after = 0;
  for (int page_number = 0; after && page_number < 10; ++page_number) {
    const ExpiredPage page = POSTRIDER_SWEEP.dead_letters(2, *after);
    for (const ExpiredEvent& expired : page.items) {
      found.push_back(expired.only_delivery.value());
    }
    after = page.next;
  }
  EXPECT_EQ(after, std::nullopt);
  EXPECT_EQ(found, all);
}

TEST_P(RetentionContract, KeepsWhatWasRevivedMeanwhile) {
  const Delivery event_goes = accept(first_);
  const Delivery letter_goes = accept(first_);
  settle(script_.success(event_goes));
  settle(script_.death(letter_goes, gone));
  script_.now += hours{90};
  const ExpiredPage events = POSTRIDER_SWEEP.events();
  const ExpiredPage letters = POSTRIDER_SWEEP.dead_letters();
  EXPECT_EQ(events.items.size(), 2u);
  EXPECT_EQ(letters.items.size(), 1u);
  ASSERT_TRUE(revive({.delivery_id = event_goes.id, .now = script_.now}).has_value());
  ASSERT_TRUE(revive({.delivery_id = letter_goes.id, .now = script_.now}).has_value());
  EXPECT_EQ(POSTRIDER_SWEEP.remove(events), Removed{});
  EXPECT_EQ(POSTRIDER_SWEEP.remove(letters), Removed{});
  EXPECT_EQ(
      load({.webhook_id = first_, .due_before = wall_time_max, .limit = 10}).deliveries.size(), 2u);
}

TEST_P(RetentionContract, LiveIdempotencyKeyKeepsItsEvent) {  // P3
  publish({}, {.key = "k"});
  const RetentionCutoffs at_once = cutoffs_at({.events = Millis{1}}, script_.now + hours{1});
  const ExpiredPage page = retention_reader().expired_events({.cutoffs = at_once}).value();
  EXPECT_EQ(retention_writer().remove(keys(page), at_once).value(), Removed{});
  EXPECT_TRUE(std::holds_alternative<Duplicate>(publish({}, {.key = "k"})));

  script_.now += StoreScript::claim_life;
  const RetentionCutoffs later = cutoffs_at({.events = Millis{1}}, script_.now + hours{1});
  EXPECT_EQ(retention_writer().remove(keys(page), later)->events, 1u);
  EXPECT_TRUE(std::holds_alternative<Accepted>(publish({}, {.key = "k"})));
}

TEST_P(RetentionContract, ListOfAWebhookHasExactlyTheRemainingDeliveries) {
  // Every second event is kept by a waiting delivery to another webhook, so the chain gets gaps.
  std::vector<DeliveryId> stays;
  for (int i = 0; i < 7; ++i) {
    const bool kept = i % 2 == 1;
    const std::vector<WebhookId> to =
        kept ? std::vector<WebhookId>{first_, second_} : std::vector<WebhookId>{first_};
    const Delivery delivery = std::get<Accepted>(publish(to)).deliveries[0];
    settle(script_.success(delivery));
    if (kept) {
      stays.insert(stays.begin(), delivery.id);
    }
  }
  script_.now += hours{90};
  const auto listed = [this](std::uint32_t limit) {
    std::vector<DeliveryId> found;
    std::optional<std::int64_t> before;
    for (int page_number = 0; page_number < 20; ++page_number) {
      const auto page =
          history().list_deliveries({.webhook_ids = {first_}}, {.limit = limit, .before = before});
      for (const DeliveryRecord& each : page->items) {
        found.push_back(each.delivery.id);
      }
      before = page->next;
      if (!before) {
        break;
      }
    }
    return found;
  };
  EXPECT_EQ(listed(50).size(), 7u);
  EXPECT_EQ(POSTRIDER_SWEEP.remove_events().events, 4u);
  EXPECT_EQ(listed(50), stays);
  EXPECT_EQ(listed(1), stays);

  const Delivery fresh = accept(first_);
  stays.insert(stays.begin(), fresh.id);
  EXPECT_EQ(listed(50), stays);
  EXPECT_EQ(listed(2), stays);

  // Finish the waiting deliveries; then remove the middle event, then the others.
  for (const Delivery& waiting :
       load({.webhook_id = second_, .due_before = wall_time_max, .limit = 10}).deliveries) {
    settle(script_.success(waiting));
  }
  const ExpiredPage page = POSTRIDER_SWEEP.events();
  ASSERT_EQ(page.items.size(), 3u);
  EXPECT_EQ(
      retention_writer().remove({key_of(page.items[1])}, cutoffs_at(ages, script_.now))->events,
      1u);
  EXPECT_EQ(listed(50), (std::vector<DeliveryId>{stays[0], stays[1], stays[3]}));
  EXPECT_EQ(POSTRIDER_SWEEP.remove_events().events, 2u);
  EXPECT_EQ(listed(50), (std::vector<DeliveryId>{fresh.id}));
  store_->reopen();
  EXPECT_EQ(listed(50), (std::vector<DeliveryId>{fresh.id}));
}

TEST_P(RetentionContract, SequencesAreNeverReused) {
  const Delivery last = accept(first_);
  settle(script_.success(last));
  script_.now += hours{90};
  EXPECT_EQ(POSTRIDER_SWEEP.remove_events().events, 1u);
  store_->reopen();
  EXPECT_GT(accept(first_).sequence, last.sequence);
}

TEST_P(RetentionContract, HealthForgetsRemovedAttemptsButKeepsTheLastTimes) {
  settle(script_.success(accept(first_)));
  script_.now += hours{90};
  EXPECT_EQ(POSTRIDER_SWEEP.remove_events().attempts, 1u);
  WebhookHealth health = history().webhook_health(first_).value();
  EXPECT_EQ(health.attempts, 0u);
  EXPECT_TRUE(health.last_success_at.has_value());
  settle(script_.success(accept(first_)));
  EXPECT_EQ(history().webhook_health(first_)->attempts, 1u);
}

TEST_P(RetentionContract, SettlementOfARemovedDeliveryIsIgnored) {
  const Delivery delivery = accept(first_);
  ASSERT_TRUE(cancel(delivery.id).has_value());
  script_.now += hours{90};
  EXPECT_EQ(POSTRIDER_SWEEP.remove_events().events, 1u);
  settle(script_.success(delivery));
  EXPECT_TRUE(attempts(delivery.id).empty());
  EXPECT_EQ(history().webhook_health(first_)->attempts, 0u);
}

TEST_P(RetentionContract, StatisticsAreRemovedByTheirOwnAge) {
  settle(script_.success(accept(first_)));
  const WallTime counted = script_.now;
  script_.now += hours{90};
  settle(script_.success(accept(first_)));
  EXPECT_EQ(POSTRIDER_SWEEP.remove_events().events, 1u);
  const StatsFilter then{.from = counted - hours{1}, .to = counted + hours{1}};
  EXPECT_EQ(stats().by_webhook(then)->size(), 1u);
  EXPECT_EQ(stats().over_time(then, stats_span)->size(), 1u);

  EXPECT_EQ(retention_writer().remove_stats(counted - hours{1}, 100).value(), 0u);
  EXPECT_EQ(retention_writer().remove_stats(counted + hours{1}, 100).value(), 2u);
  EXPECT_TRUE(stats().by_webhook(then)->empty());
  EXPECT_TRUE(stats().over_time(then, stats_span)->empty());
  const StatsFilter now{.from = script_.now - hours{1}, .to = script_.now + hours{1}};
  EXPECT_EQ(stats().by_webhook(now)->size(), 1u);
}

TEST_P(RetentionContract, HistoryOfARemovedWebhookExpiresWithoutItsEvents) {
  for (const WebhookId id : {first_, second_}) {
    ASSERT_TRUE(catalog().put_webhook(sample_webhook(id)).has_value());
  }
  std::vector<Delivery> gone;
  for (int i = 0; i < 5; ++i) {
    const auto deliveries = std::get<Accepted>(publish({first_, second_}, {})).deliveries;
    settle(script_.success(deliveries[0]));
    settle(script_.success(deliveries[1]));
    gone.insert(gone.begin(), deliveries[0]);
  }
  const Delivery waiting = accept(first_);
  ASSERT_TRUE(catalog().remove_webhook(first_, script_.now).has_value());
  EXPECT_EQ(*history().tenant_of_removed(first_), sample_webhook(first_).tenant_id);
  EXPECT_EQ(*history().tenant_of_removed(second_), std::nullopt);
  script_.now += hours{19};
  EXPECT_EQ(POSTRIDER_SWEEP.webhook(), std::nullopt);
  EXPECT_EQ(retention_writer()
                .remove({{.sequence = gone[0].sequence, .only_delivery = gone[0].sequence}},
                        cutoffs_at(ages, script_.now))
                .value(),
            Removed{})
      << "too young";
  script_.now += hours{1};
  store_->reopen();
  ASSERT_EQ(POSTRIDER_SWEEP.webhook(), first_);
  EXPECT_EQ(POSTRIDER_SWEEP.webhook(first_), std::nullopt);

  const ExpiredPage page = POSTRIDER_SWEEP.deliveries_of(first_, 4);
  ASSERT_EQ(page.items.size(), 3u) << "newest first, without the waiting one";
  ASSERT_TRUE(page.next.has_value());
  EXPECT_EQ(page.items[0].only_delivery, gone[0].sequence);
  EXPECT_EQ(page.items[0].event.id, gone[0].event_id);
  ASSERT_EQ(page.items[0].deliveries.size(), 1u);
  EXPECT_EQ(page.items[0].deliveries[0].attempts.size(), 1u);
  EXPECT_EQ(POSTRIDER_SWEEP.remove(page).deliveries, 3u);
  const ExpiredPage rest = POSTRIDER_SWEEP.deliveries_of(first_, 4, *page.next);
  EXPECT_EQ(POSTRIDER_SWEEP.remove(rest),
            (Removed{.events = 0, .deliveries = 2, .attempts = 2, .dead_letters = {}}));
  EXPECT_EQ(rest.next, std::nullopt);
  EXPECT_FALSE(*retention_writer().forget_webhook(first_)) << "a delivery still waits";
  EXPECT_EQ(history().find_delivery(gone[0].id).error().code, Errc::not_found);
  EXPECT_TRUE(history().find_event(gone[0].event_id).has_value());
  EXPECT_EQ(history().list_deliveries({.webhook_ids = {second_}}, {})->items.size(), 5u);

  ASSERT_EQ(catalog().cancel_waiting(first_, script_.now, 10)->total(), 1);
  EXPECT_EQ(POSTRIDER_SWEEP.remove(POSTRIDER_SWEEP.deliveries_of(first_)).deliveries, 1u);
  EXPECT_EQ(history().find_delivery(waiting.id).error().code, Errc::not_found);
  EXPECT_TRUE(*retention_writer().forget_webhook(first_));
  EXPECT_FALSE(*retention_writer().forget_webhook(first_));
  EXPECT_EQ(POSTRIDER_SWEEP.webhook(), std::nullopt);
  EXPECT_EQ(*history().tenant_of_removed(first_), std::nullopt);
}

#undef POSTRIDER_SWEEP

}  // namespace postrider::test
