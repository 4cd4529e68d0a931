// Statistics over time.
#include <chrono>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

// store_epoch is 22:13:20; its span began at 22:10:00.
const WallTime first_span = wall_from_unix_ms(1'699'999'800'000);
const DeadReason gone{Classification::permanent, "permanent_client_error_404"};

StatsFilter around(WallTime time) { return {.from = time - hours{1}, .to = time + hours{1}}; }

DeliveryTally sum(const Result<std::vector<SpanTally>>& spans) {
  DeliveryTally total;
  EXPECT_TRUE(spans.has_value());
  for (const SpanTally& span : spans.value_or(std::vector<SpanTally>{})) {
    total.add(span.tally);
  }
  return total;
}

}  // namespace

TEST_P(StatsContract, EmptyStoreHasNoStatistics) {
  EXPECT_TRUE(stats().over_time(around(script_.now), stats_span)->empty());
  EXPECT_TRUE(stats().by_webhook(around(script_.now))->empty());
}

TEST_P(StatsContract, CountsEveryEventDeliveryAndAttemptOnce) {
  publish({});
  const Delivery once = accept(first_);
  const Delivery twice = accept(first_);
  settle(script_.success(once));
  const Settlement failure = script_.retry(twice, script_.now);
  settle(failure);
  Delivery again = twice;
  again.attempt_count = 1;
  const Settlement death = script_.death(again, gone);
  settle(death);
  settle(death);  // Repeated after a lost answer.

  const auto spans = stats().over_time(around(script_.now), stats_span);
  ASSERT_EQ(spans->size(), 1u);
  EXPECT_EQ(spans->front().start, first_span);
  const DeliveryTally& total = spans->front().tally;
  EXPECT_EQ(total.published, 3u);
  EXPECT_EQ(total.deliveries, 2u);
  EXPECT_EQ(total.attempts, 3u);
  EXPECT_EQ(total.succeeded, 1u);
  EXPECT_EQ(total.retries, 1u);
  EXPECT_EQ(total.dead_letters, 1u);
  EXPECT_EQ(total.failures[static_cast<std::size_t>(*failure.attempt->failure_category)], 1u);
  EXPECT_EQ(total.failures[static_cast<std::size_t>(*death.attempt->failure_category)], 1u);
  EXPECT_EQ(total.durations.count(), 3u);
  EXPECT_EQ(total.duration_total, 3 * death.attempt->outcome.duration);

  const auto webhooks = stats().by_webhook(around(script_.now));
  ASSERT_EQ(webhooks->size(), 1u);
  DeliveryTally expected = total;
  expected.published = 2;  // The third event has no delivery.
  EXPECT_EQ(webhooks->front(), (WebhookTally{first_, expected}));
}

TEST_P(StatsContract, EveryDeliveryCountsByItsLatestOutcome) {
  const auto now = [this] {
    const std::vector<WebhookTally> webhooks = *stats().by_webhook(around(script_.now));
    const DeliveryTally of_all = sum(stats().over_time(around(script_.now), stats_span));
    const DeliveryTally of_webhook = webhooks.empty() ? DeliveryTally{} : webhooks.front().tally;
    EXPECT_EQ(of_all.now_succeeded, of_webhook.now_succeeded);
    EXPECT_EQ(of_all.now_dead_letter, of_webhook.now_dead_letter);
    return std::pair{of_webhook.now_succeeded, of_webhook.now_dead_letter};
  };
  using Counts = std::pair<std::uint64_t, std::uint64_t>;
  const Delivery good = accept(first_);
  const Delivery bad = accept(first_);
  EXPECT_EQ(now(), (Counts{0, 0}));
  settle(script_.success(good));
  settle(script_.death(bad, gone));
  EXPECT_EQ(now(), (Counts{1, 1}));
  script_.now += minutes{15};  // Its span is in the table of statistics, not in the lane.
  settle(script_.success(accept(first_)));
  const Result<Delivery> revived = revive({.delivery_id = bad.id, .now = script_.now});
  ASSERT_TRUE(revived.has_value());
  EXPECT_EQ(now(), (Counts{2, 0}));
  settle(script_.death(*revived, gone));
  EXPECT_EQ(now(), (Counts{2, 1}));
  commit({.cancels = {{.delivery_id = bad.id, .now = script_.now, .of = CancelOf::dead_letter}}});
  EXPECT_EQ(now(), (Counts{2, 0})) << "discarded";
  const Result<Delivery> replayed = revive({.delivery_id = good.id, .now = script_.now});
  ASSERT_TRUE(replayed.has_value());
  EXPECT_EQ(now(), (Counts{1, 0})) << "it may fail this time";
  store_->reopen();
  settle(script_.success(*replayed));
  EXPECT_EQ(now(), (Counts{2, 0}));
  const Delivery stopped = accept(first_);
  ASSERT_TRUE(cancel(stopped.id).has_value());
  EXPECT_EQ(now(), (Counts{2, 0}));
  settle(script_.success(stopped));
  EXPECT_EQ(now(), (Counts{3, 0})) << "it had succeeded before it was cancelled";
}

TEST_P(StatsContract, SpansAreSeparateAndAddUpToBuckets) {
  for (int i = 0; i < 4; ++i) {
    settle(script_.success(accept(first_)));
    script_.now += minutes{5};
  }
  const StatsFilter filter{.from = first_span, .to = first_span + minutes{20}};
  const auto spans = stats().over_time(filter, stats_span);
  ASSERT_EQ(spans->size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ((*spans)[i].start, first_span + static_cast<int>(i) * stats_span);
    EXPECT_EQ((*spans)[i].tally.attempts, 1u);
    EXPECT_EQ((*spans)[i].tally.published, 1u);
  }
  const auto hourly = stats().over_time(filter, hours{1});
  ASSERT_EQ(hourly->size(), 1u);
  EXPECT_EQ(hourly->front().start, wall_from_unix_ms(1'699'999'200'000)) << "22:00";
  EXPECT_EQ(hourly->front().tally.attempts, 4u);

  const StatsFilter middle{.from = first_span + minutes{5}, .to = first_span + minutes{15}};
  EXPECT_EQ(sum(stats().over_time(middle, stats_span)).attempts, 2u);
  EXPECT_EQ(stats().by_webhook(middle)->front().tally.attempts, 2u);
  const StatsFilter outwards{.from = first_span + minutes{6}, .to = first_span + minutes{11}};
  EXPECT_EQ(sum(stats().over_time(outwards, stats_span)).attempts, 2u);
}

TEST_P(StatsContract, LateResultsAreCountedInTheirSpan) {
  const Delivery early = accept(first_);
  const Delivery other = accept(first_);
  const Settlement late = script_.success(early);
  script_.now += minutes{10};
  settle(script_.success(other));
  settle(late);
  script_.now += minutes{10};
  settle(script_.success(accept(first_)));

  StatsFilter filter{.from = first_span, .to = first_span + stats_span};
  EXPECT_EQ(sum(stats().over_time(filter, stats_span)).attempts, 1u);
  EXPECT_EQ(sum(stats().over_time(filter, stats_span)).published, 2u);
  filter.webhook_id = first_;
  EXPECT_EQ(sum(stats().over_time(filter, stats_span)).attempts, 1u);
  EXPECT_EQ(sum(stats().over_time(filter, stats_span)).published, 2u);
  EXPECT_EQ(
      stats().over_time({.from = first_span, .to = first_span + hours{1}}, stats_span)->size(), 3u);
}

TEST_P(StatsContract, FiltersByWebhookAndTenant) {
  settle(script_.success(accept(first_)));
  settle(script_.success(accept(second_, {.tenant_id = "other"})));
  settle(script_.success(accept(second_, {.tenant_id = "other"})));
  StatsFilter filter = around(script_.now);
  EXPECT_EQ(sum(stats().over_time(filter, stats_span)).attempts, 3u);

  filter.tenant_id = "other";
  EXPECT_EQ(sum(stats().over_time(filter, stats_span)).attempts, 2u);
  ASSERT_EQ(stats().by_webhook(filter)->size(), 1u);
  EXPECT_EQ(stats().by_webhook(filter)->front().webhook_id, second_);
  filter.webhook_id = first_;
  EXPECT_TRUE(stats().over_time(filter, stats_span)->empty()) << "a webhook of another tenant";
  EXPECT_TRUE(stats().by_webhook(filter)->empty());

  filter.tenant_id.reset();
  EXPECT_EQ(sum(stats().over_time(filter, stats_span)).attempts, 1u);
  EXPECT_EQ(stats().by_webhook(filter)->size(), 1u);
  filter.webhook_id = StoreScript::webhook(9);
  EXPECT_TRUE(stats().over_time(filter, stats_span)->empty());
  filter.webhook_id.reset();
  filter.tenant_id = "nobody";
  EXPECT_TRUE(stats().over_time(filter, stats_span)->empty());
}

TEST_P(StatsContract, WebhookWithDeliveriesOfTwoTenantsCountsForBoth) {
  const Delivery before = accept(first_, {.tenant_id = "one"});
  const Delivery after = accept(first_, {.tenant_id = "two"});
  settle(script_.success(before));
  settle(script_.success(after));
  settle(script_.success(accept(first_, {.tenant_id = "two"})));
  StatsFilter filter = around(script_.now);
  filter.webhook_id = first_;
  EXPECT_EQ(sum(stats().over_time(filter, stats_span)).attempts, 3u);
  filter.tenant_id = "one";
  EXPECT_EQ(sum(stats().over_time(filter, stats_span)).attempts, 1u);
  filter.tenant_id = "two";
  EXPECT_EQ(sum(stats().over_time(filter, stats_span)).attempts, 2u);
  EXPECT_EQ(stats().by_webhook(filter)->front().tally.attempts, 2u);
}

TEST_P(StatsContract, BusiestWebhookComesFirst) {
  accept(StoreScript::webhook(7));
  settle(script_.success(accept(second_)));
  settle(script_.success(accept(first_)));
  settle(script_.success(accept(StoreScript::webhook(3))));
  settle(script_.success(accept(StoreScript::webhook(3))));
  const auto webhooks = stats().by_webhook(around(script_.now));
  std::vector<WebhookId> order;
  for (const WebhookTally& each : *webhooks) {
    order.push_back(each.webhook_id);
  }
  EXPECT_EQ(order, (std::vector<WebhookId>{StoreScript::webhook(3), first_, second_,
                                           StoreScript::webhook(7)}));
}

TEST_P(StatsContract, TheWorstWebhookComesFirstIfAsked) {
  const auto fail_once = [this](const Delivery& delivery) {
    settle(script_.retry(delivery, script_.now));
    return record(delivery.id).delivery;
  };
  const WebhookId untried = StoreScript::webhook(5);
  accept(untried);
  const WebhookId always_failing = StoreScript::webhook(6);
  fail_once(fail_once(accept(always_failing)));
  settle(script_.success(accept(first_)));
  settle(script_.success(fail_once(accept(second_))));
  settle(script_.success(accept(StoreScript::webhook(3))));
  settle(script_.death(accept(StoreScript::webhook(3)), gone));
  settle(script_.death(accept(StoreScript::webhook(4)), gone));
  std::vector<WebhookTally> webhooks = *stats().by_webhook(around(script_.now));
  sort_worst_first(webhooks);
  std::vector<WebhookId> order;
  for (const WebhookTally& each : webhooks) {
    order.push_back(each.webhook_id);
  }
  EXPECT_EQ(order, (std::vector<WebhookId>{always_failing, StoreScript::webhook(4),
                                           StoreScript::webhook(3), second_, first_, untried}));
}

TEST_P(StatsContract, StatisticsSurviveARestart) {
  settle(script_.success(accept(first_)));
  store_->reopen();
  settle(script_.success(accept(first_)));
  store_->reopen();
  EXPECT_EQ(sum(stats().over_time(around(script_.now), stats_span)).attempts, 2u);
  EXPECT_EQ(stats().by_webhook(around(script_.now))->front().tally.succeeded, 2u);
}

}  // namespace postrider::test
