// Reads of a large store with several months, which the contract of all stores does not cover.
#include "adapters/postgres/store/history/history.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/postgres/store/history/delivery_query.h"
#include "adapters/postgres/store/history/event_query.h"
#include "adapters/postgres/store/history/history_data.h"

namespace postrider::postgres {
namespace {

using testing::ElementsAre;

using Data = HistoryData;

constexpr std::int64_t hooks_per_webhook = Data::delivery_count / Data::webhook_count;
constexpr std::int64_t waiting_per_webhook =
    (Data::delivery_count - Data::final_count) / Data::webhook_count;

class LargeHistory : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data_ = std::make_unique<Data>();
    data_->fill();
    history_ = make_history(data_->connect());
  }
  static void TearDownTestSuite() {
    history_.reset();
    data_.reset();
  }

  static std::vector<std::int64_t> sequences(const Result<Listed<DeliveryRecord>>& listed) {
    EXPECT_TRUE(listed.has_value()) << listed.error().message;
    std::vector<std::int64_t> found;
    for (const DeliveryRecord& record : listed ? listed->items : std::vector<DeliveryRecord>{}) {
      found.push_back(record.delivery.sequence);
    }
    return found;
  }

  /// Adds up all ranges.
  static std::uint64_t count(const DeliveryFilter& filter, std::uint32_t scanned_max) {
    CountRange range{.scanned_max = scanned_max};
    std::uint64_t total = 0;
    for (int calls = 0; calls < 1'000; ++calls) {
      const Result<PartialCount> part = history_->count_deliveries(filter, range);
      EXPECT_TRUE(part.has_value()) << part.error().message;
      total += part->count;
      if (!part->next) {
        return total;
      }
      range.before = part->next;
    }
    ADD_FAILURE() << "the ranges do not end";
    return total;
  }

  static std::vector<WebhookId> webhooks(int number) {
    std::vector<WebhookId> ids;
    for (int i = 0; i < number; ++i) {
      ids.push_back(Data::webhook(i));
    }
    return ids;
  }

  /// Replaces all circuits.
  static void open_circuits_of(const std::vector<WebhookId>& ids) {
    data_->run("DELETE FROM circuit");
    data_->run(
        "INSERT INTO circuit (webhook_id, state, openings_in_row, changed_at, forced_open)"
        " SELECT unnest($1::uuid[]), 1, 1, 0, 0",
        Parameters::of(id_array(ids)));
  }

  static inline std::unique_ptr<Data> data_;
  static inline std::unique_ptr<History> history_;
};

TEST_F(LargeHistory, PagesCoverWaitingAndFinalDeliveriesOfAllMonthsOnce) {
  std::int64_t expected = Data::delivery_count;
  Page page{.limit = 250};
  while (expected > 0) {
    const auto listed = history_->list_deliveries({}, page);
    for (const std::int64_t sequence : sequences(listed)) {
      ASSERT_EQ(sequence, expected);
      --expected;
    }
    ASSERT_EQ(listed->next.has_value(), expected > 0);
    page.before = listed->next;
  }
}

TEST_F(LargeHistory, ARecordHasWhatItsTableKeeps) {
  constexpr int dead = 5 * Data::dead_step;
  const DeliveryRecord record = history_->find_delivery(Data::delivery(dead)).value();
  EXPECT_EQ(record.delivery.sequence, dead);
  EXPECT_EQ(record.delivery.event_id, Data::event(dead));
  EXPECT_EQ(record.delivery.state, DeliveryState::dead_letter);
  EXPECT_EQ(record.completed_at, wall_from_unix_ms(Data::time_of(dead)));
  EXPECT_EQ(record.dead->reason, "max_attempts_exceeded");
  EXPECT_EQ(record.last_attempt->duration, Micros{2'500});
  constexpr int waiting = Data::final_count + 1;
  const DeliveryRecord young = history_->find_delivery(Data::delivery(waiting)).value();
  EXPECT_EQ(young.delivery.state, DeliveryState::retrying);
  EXPECT_EQ(young.completed_at, std::nullopt);
  EXPECT_EQ(young.last_attempt, std::nullopt);
}

TEST_F(LargeHistory, CountsOfRangesAddUp) {
  EXPECT_EQ(count({}, 3'000), Data::delivery_count);
  EXPECT_EQ(count({.tenant_id = Data::tenant(3)}, 700), Data::delivery_count / Data::tenant_count);
  EXPECT_EQ(count({.event_types = {"user.*"}}, 20'000), Data::final_count / Data::dead_step);
  EXPECT_EQ(count({.states = {DeliveryState::dead_letter}}, 7),
            Data::final_count / Data::dead_step);
  EXPECT_EQ(count({.states = {DeliveryState::pending, DeliveryState::retrying}}, 900),
            Data::delivery_count - Data::final_count);
  EXPECT_EQ(count({.resource_id = Data::resource(40)}, 100),
            Data::delivery_count / Data::resource_step);
}

TEST_F(LargeHistory, WebhooksAreMergedOrComparedWithTheSameResult) {
  for (const int number :
       {2, static_cast<int>(merged_webhooks_max), static_cast<int>(merged_webhooks_max) + 1}) {
    const DeliveryFilter filter{.webhook_ids = webhooks(number)};
    EXPECT_EQ(count(filter, 4'000), number * hooks_per_webhook);
    // Sequence 20,000 belongs to webhook 0 and the next one to webhook 1.
    EXPECT_THAT(sequences(history_->list_deliveries(filter, {.limit = 3, .before = 20'002})),
                ElementsAre(20'001, 20'000, number == 2 ? 19'951 : 19'950 + number - 1));
  }
}

TEST_F(LargeHistory, BlockedDeliveriesAreFoundForFewAndForManyOpenCircuits) {
  const DeliveryFilter blocked{.circuit_blocked = true};
  open_circuits_of({});
  EXPECT_EQ(count(blocked, 1'000), 0);
  for (const int number : {1, static_cast<int>(merged_webhooks_max) + 1}) {
    open_circuits_of(webhooks(number));
    EXPECT_EQ(count(blocked, 1'000), number * waiting_per_webhook);
    const DeliveryFilter or_dead{.states = {DeliveryState::dead_letter}, .circuit_blocked = true};
    EXPECT_EQ(count(or_dead, 1'000),
              number * waiting_per_webhook + Data::final_count / Data::dead_step);
    const DeliveryFilter of_tenant{.tenant_id = Data::tenant(0), .circuit_blocked = true};
    EXPECT_EQ(count(of_tenant, 1'000), (number + 9) / 10 * waiting_per_webhook);
  }
  open_circuits_of({});
}

TEST_F(LargeHistory, APageOfLargeEventsEndsEarly) {
  constexpr std::int64_t bytes = 1 << 20;
  constexpr int first = Data::delivery_count + 1;
  constexpr int fitting = event_page_bytes_max / bytes + 1;
  for (int number = first; number <= first + fitting; ++number) {
    data_->run(
        "INSERT INTO event (id, sequence, tenant_id, type, priority, \"timestamp\", created_at,"
        " delivery_count, idempotency_key, metadata, data)"
        " VALUES ($1, $2, 'large', 'a', 1, 0, 0, 1, '', '{}', repeat('x', 1048576))",
        Parameters::of(Data::event(number), std::int64_t{number}));
  }
  const EventFilter filter{.tenant_id = "large"};
  const auto page = history_->list_events_for(Data::webhook(1), filter, {.limit = 50});
  ASSERT_TRUE(page.has_value()) << page.error().message;
  ASSERT_EQ(page->items.size(), fitting);
  EXPECT_EQ(page->items.front().event.data.size(), bytes);
  EXPECT_EQ(page->next, page->items.back().sequence);
  const auto rest =
      history_->list_events_for(Data::webhook(1), filter, {.after = *page->next, .limit = 50});
  ASSERT_EQ(rest->items.size(), 1u);
  EXPECT_EQ(rest->items.front().sequence, first + fitting);
  EXPECT_EQ(rest->next, std::nullopt);
  data_->run("DELETE FROM event WHERE tenant_id = 'large'");
}

TEST_F(LargeHistory, AttemptsOfTheSameTimeAreListedInTheOrderOfRecording) {
  const WallTime at = wall_from_unix_ms(Data::time_of(Data::final_count)) + Millis{1};
  data_->run(
      "INSERT INTO attempt (delivery_id, number, id, webhook_id, tenant_id, recorded, executed_at,"
      " duration_us, trigger, scheduled_at, detail)"
      " SELECT delivery_id, 2, id, webhook_id, tenant_id, recorded + 100000, $1, 1, 0, 0, detail"
      " FROM attempt WHERE recorded <= 5",
      Parameters::of(at));
  const AttemptFilter filter{.from = at};
  std::vector<DeliveryId> found;
  AttemptPage page{.limit = 2};
  for (int calls = 0; calls < 10; ++calls) {
    const auto listed = history_->list_attempts(filter, page);
    ASSERT_TRUE(listed.has_value()) << listed.error().message;
    for (const AttemptRecord& record : listed->items) {
      EXPECT_EQ(record.event_type, "order.paid");
      found.push_back(record.delivery_id);
    }
    if (!listed->next) {
      break;
    }
    page.before = listed->next;
  }
  EXPECT_THAT(found, ElementsAre(Data::delivery(5), Data::delivery(4), Data::delivery(3),
                                 Data::delivery(2), Data::delivery(1)));
  data_->run("DELETE FROM attempt WHERE number = 2");
}

TEST_F(LargeHistory, HealthIsThatOfTheLatestAttempts) {
  const Result<WebhookHealth> health = history_->webhook_health(Data::webhook(0));
  ASSERT_TRUE(health.has_value()) << health.error().message;
  EXPECT_EQ(health->attempts, Data::final_count / Data::webhook_count);
  EXPECT_EQ(health->failures.at(FailureCategory::timeout), Data::final_count / Data::dead_step);
  EXPECT_EQ(health->deliveries.at(DeliveryState::dead_letter), Data::final_count / Data::dead_step);
  EXPECT_EQ(health->deliveries.at(DeliveryState::pending), waiting_per_webhook);
  EXPECT_FALSE(health->deliveries.contains(DeliveryState::retrying));
}

}  // namespace
}  // namespace postrider::postgres
