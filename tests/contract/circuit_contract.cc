// Circuits: the attempts that count after a restart, and the periods in which a circuit was open.
#include <map>
#include <string_view>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr CallsToRestore everything{.since = wall_time_min, .limit = 1'000};

std::string results(const Result<std::vector<PastCall>>& calls) {
  std::string text;
  for (const PastCall& call : calls.value()) {
    text += call.failed ? '-' : '+';
  }
  return text;
}

OpenPeriod period(Millis from, std::optional<Millis> until = std::nullopt,
                  OpenReason reason = OpenReason::failures) {
  return {.opened_at = store_epoch + from,
          .ended_at = until ? std::optional{store_epoch + *until} : std::nullopt,
          .reason = reason};
}

using Periods = std::vector<OpenPeriod>;

}  // namespace

TEST_P(LedgerContract, RecentCallsAreTheLatestAttemptsOldestFirst) {
  EXPECT_EQ(results(ledger().recent_calls(first_, everything)), "");
  for (const char result : std::string_view{"+--+-"}) {
    script_.now += seconds{1};
    const Delivery delivery = accept(first_);
    settle(result == '+' ? script_.success(delivery) : script_.retry(delivery, script_.now));
    settle(script_.success(accept(second_)));
  }
  EXPECT_EQ(results(ledger().recent_calls(first_, everything)), "+--+-");
  EXPECT_EQ(results(ledger().recent_calls(second_, everything)), "+++++");
  EXPECT_EQ(results(ledger().recent_calls(first_, {.since = wall_time_min, .limit = 2})), "+-");

  const WallTime ended = script_.now - seconds{2} + Millis{2};  // An attempt takes 2.5 ms.
  EXPECT_EQ(results(ledger().recent_calls(first_, {.since = ended, .limit = 10})), "-+-");
  EXPECT_EQ(results(ledger().recent_calls(first_, {.since = ended + Millis{1}, .limit = 10})),
            "+-");
  store_->reopen();
  const auto calls = ledger().recent_calls(first_, {.since = ended, .limit = 10});
  ASSERT_EQ(results(calls), "-+-");
  EXPECT_EQ(calls->front(), (PastCall{.began = script_.now - seconds{2},
                                      .ended = script_.now - seconds{2} + Millis{2},
                                      .failed = true}));
}

TEST_P(LedgerContract, RecentCallsReachBackForAMinimum) {
  for (const FailureCategory category :
       {FailureCategory::network, FailureCategory::timeout, FailureCategory::timeout}) {
    script_.now += hours{1};
    Settlement settlement = script_.retry(accept(first_), script_.now);
    settlement.attempt->failure_category = category;
    settle(settlement);
  }
  store_->reopen();
  const WallTime since = script_.now + hours{1};
  EXPECT_EQ(results(ledger().recent_calls(first_, {.since = since, .limit = 9})), "");
  const auto calls = ledger().recent_calls(first_, {.since = since, .limit = 9, .count_min = 2});
  ASSERT_EQ(results(calls), "--");
  EXPECT_TRUE(calls->front().timed_out && calls->back().timed_out);
  const auto all = ledger().recent_calls(first_, {.since = since, .limit = 9, .count_min = 7});
  ASSERT_EQ(results(all), "---");
  EXPECT_FALSE(all->front().timed_out);
}

TEST_P(CatalogContract, CircuitKeepsWhatItCountsAndWhenItOpened) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  const CircuitRecord record{.counting_since = store_epoch + Millis{4},
                             .opened_at = store_epoch + Millis{3},
                             .times_opened = 12};
  commit({.circuits = {{first_, record}}});
  store_->reopen();
  EXPECT_EQ(catalog().load_circuits()->at(first_), record);
}

TEST_P(HistoryContract, OpenPeriodsOfADeliveryOverlapItsLife) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(second_)).has_value());
  script_.now = store_epoch + seconds{100};
  const Delivery done = accept(first_);
  const Delivery other = accept(second_);
  script_.now = store_epoch + seconds{200};
  settle(script_.success(done));
  const Delivery waiting = accept(first_);
  commit({.circuits = {{first_, {}, {period(seconds{1}, seconds{99})}},
                       {first_, {}, {period(seconds{90})}},
                       {first_, {}, {period(seconds{90}, seconds{110})}},
                       {first_, {}, {period(seconds{120}, seconds{130}, OpenReason::forced)}},
                       {first_, {}, {period(seconds{120}, seconds{140})}},
                       {first_, {}, {period(seconds{300})}}}});
  store_->reopen();
  EXPECT_EQ(history().open_periods_of(done.id).value(),
            (Periods{period(seconds{90}, seconds{110}),
                     period(seconds{120}, seconds{140}, OpenReason::forced)}))
      << "a later save ends a period, and keeps that it was forced";
  EXPECT_EQ(history().open_periods_of(waiting.id).value(), (Periods{period(seconds{300})}));
  EXPECT_TRUE(history().open_periods_of(other.id)->empty());
  EXPECT_TRUE(history().open_periods_of(DeliveryId{})->empty());

  ASSERT_TRUE(catalog().remove_webhook(first_, store_epoch).has_value());
  EXPECT_EQ(history().open_periods_of(done.id)->size(), 2u) << "part of the history";
}

TEST_P(HistoryContract, ListsTheOpenPeriodsOfAWebhookNewestFirst) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(second_)).has_value());
  const OpenPeriod oldest = period(seconds{1}, seconds{2});
  const OpenPeriod middle = period(seconds{3}, seconds{4}, OpenReason::forced);
  const OpenPeriod newest = period(seconds{5});
  commit({.circuits = {{first_, {}, {middle}},
                       {first_, {}, {oldest}},
                       {first_, {}, {newest}},
                       {second_, {}, {period(seconds{7})}}}});
  store_->reopen();
  const auto list = [this](const Page& page) {
    return history().list_open_periods(first_, page).value();
  };
  EXPECT_EQ(list({}).items, (Periods{newest, middle, oldest}));
  EXPECT_FALSE(list({.limit = 3}).next.has_value());
  const Listed<OpenPeriod> page = list({.limit = 2});
  EXPECT_EQ(page.items, (Periods{newest, middle}));
  ASSERT_TRUE(page.next.has_value());
  EXPECT_EQ(list({.limit = 2, .before = page.next}).items, (Periods{oldest}));
  EXPECT_EQ(list({.limit = 1, .offset = 1}).items, (Periods{middle}));
  EXPECT_TRUE(list({.limit = 0}).items.empty());
  EXPECT_TRUE(history().list_open_periods(WebhookId{}, {})->items.empty());
}

TEST_P(HistoryContract, OpenCircuitsAreThoseThatAreNotClosed) {
  using Circuits = std::map<WebhookId, CircuitState>;
  EXPECT_TRUE(history().open_circuits()->empty());
  const WebhookId third = StoreScript::webhook(3);
  for (const WebhookId id : {first_, second_, third}) {
    ASSERT_TRUE(catalog().put_webhook(sample_webhook(id)).has_value());
  }
  commit({.circuits = {{first_, {.state = CircuitState::open}},
                       {second_, {.state = CircuitState::half_open}},
                       {third, {.state = CircuitState::closed}}}});
  store_->reopen();
  EXPECT_EQ(history().open_circuits().value(),
            (Circuits{{first_, CircuitState::open}, {second_, CircuitState::half_open}}));
  ASSERT_TRUE(catalog().remove_webhook(first_, store_epoch).has_value());
  commit({.circuits = {{second_, {.state = CircuitState::closed}}}});
  EXPECT_TRUE(history().open_circuits()->empty());
}

TEST_P(HistoryContract, CircuitsOfWebhooksAreThoseThatWereStored) {
  using Circuits = std::map<WebhookId, CircuitRecord>;
  const WebhookId third = StoreScript::webhook(3);
  for (const WebhookId id : {first_, second_, third}) {
    ASSERT_TRUE(catalog().put_webhook(sample_webhook(id)).has_value());
  }
  const CircuitRecord open{.state = CircuitState::open,
                           .openings_in_row = 2,
                           .changed_at = store_epoch + Millis{1},
                           .open_until = store_epoch + Millis{2},
                           .forced_until = store_epoch + Millis{3},
                           .forced_open = true,
                           .failing_since = store_epoch + Millis{4},
                           .counting_since = store_epoch + Millis{5},
                           .opened_at = store_epoch + Millis{6},
                           .times_opened = 7};
  const CircuitRecord closed{.changed_at = store_epoch};
  commit({.circuits = {{first_, open}, {second_, closed}}});
  store_->reopen();
  EXPECT_EQ(history().circuits_of({first_, second_, third, WebhookId{}}).value(),
            (Circuits{{first_, open}, {second_, closed}}));
  EXPECT_EQ(history().circuits_of({second_}).value(), (Circuits{{second_, closed}}));
  EXPECT_TRUE(history().circuits_of({})->empty());
}

TEST_P(HistoryContract, RecentCallsAreThoseThatTheLedgerReads) {
  for (const char result : std::string_view{"+--+"}) {
    script_.now += seconds{1};
    const Delivery delivery = accept(first_);
    settle(result == '+' ? script_.success(delivery) : script_.retry(delivery, script_.now));
    settle(script_.success(accept(second_)));
  }
  store_->reopen();
  EXPECT_EQ(results(history().recent_calls(first_, everything)), "+--+");
  EXPECT_EQ(history().recent_calls(first_, everything).value(),
            ledger().recent_calls(first_, everything).value());
  const CallsToRestore few{.since = script_.now, .limit = 9, .count_min = 2};
  EXPECT_EQ(results(history().recent_calls(first_, few)), "-+");
  EXPECT_EQ(results(history().recent_calls(WebhookId{}, everything)), "");
}

TEST_P(HistoryContract, OpenPeriodsOfAnUnknownWebhookAreIgnored) {
  const Delivery delivery = accept(first_);
  commit({.circuits = {{first_, {}, {period(seconds{1})}}}});
  EXPECT_TRUE(history().open_periods_of(delivery.id)->empty());
}

TEST_P(HistoryContract, OnlyTheLatestOpenPeriodsAreRead) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  const Delivery delivery = accept(first_);
  SaveCircuit save{.webhook_id = first_, .record = {}};
  for (std::uint32_t i = 0; i < open_periods_max + 5; ++i) {
    save.periods.push_back(period(seconds{2 * i + 1}, seconds{2 * i + 2}));
  }
  commit({.circuits = {save}});
  const Periods periods = history().open_periods_of(delivery.id).value();
  ASSERT_EQ(periods.size(), open_periods_max);
  EXPECT_EQ(periods.front(), save.periods[5]);
  EXPECT_EQ(periods.back(), save.periods.back());
}

TEST_P(RetentionContract, OldOpenPeriodsAreRemoved) {
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  ASSERT_TRUE(catalog().put_webhook(sample_webhook(second_)).has_value());
  const Delivery delivery = accept(first_);
  const Delivery of_removed = accept(second_);
  commit({.circuits = {{first_,
                        {},
                        {period(seconds{1}, seconds{2}), period(seconds{3}, seconds{4}),
                         period(seconds{5}, hours{2}), period(hours{3})}},
                       {second_, {}, {period(seconds{1})}}}});
  ASSERT_TRUE(catalog().remove_webhook(second_, store_epoch).has_value());
  const WallTime before = store_epoch + hours{1};
  EXPECT_EQ(retention_writer().remove_open_periods(before, 2).value(), 2u);
  EXPECT_EQ(retention_writer().remove_open_periods(before, 2).value(), 1u);
  EXPECT_EQ(retention_writer().remove_open_periods(before, 2).value(), 0u);
  EXPECT_EQ(history().open_periods_of(delivery.id).value(),
            (Periods{period(seconds{5}, hours{2}), period(hours{3})}));
  EXPECT_TRUE(history().open_periods_of(of_removed.id)->empty()) << "the webhook is gone";
}

}  // namespace postrider::test
