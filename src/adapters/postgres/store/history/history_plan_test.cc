// Checks that the lists read few rows of large tables, and find them by an index. With a million
// rows a wrong plan is an outage, and no other test would notice it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/postgres/store/history/attempt_query.h"
#include "adapters/postgres/store/history/delivery_query.h"
#include "adapters/postgres/store/history/event_query.h"
#include "adapters/postgres/store/history/health.h"
#include "adapters/postgres/store/history/history_data.h"
#include "adapters/postgres/store/history/plan_settings.h"
#include "adapters/postgres/store/history/source_row_reader.h"
#include "adapters/postgres/store/ledger/lanes.h"

namespace postrider::postgres {
namespace {

using Data = HistoryData;

/// The plan that PostgreSQL executed.
struct Executed {
  std::string text;
  std::int64_t rows_read = 0;  // The most rows that a part of the plan read.

  explicit Executed(const Rows& plan) {
    for (int row = 0; row < plan.count(); ++row) {
      const std::string line = plan.text(row, 0);
      text += line + "\n";
      add_number(line, "actual rows=", "loops=");
      add_number(line, "Rows Removed by Filter: ", "");
      add_number(line, "Rows Removed by Index Recheck: ", "");
    }
  }

 private:
  /// Adds the number after `label`, times the one after `times`.
  void add_number(const std::string& line, const std::string& label, const std::string& times) {
    const std::size_t at = line.find(label);
    if (at == std::string::npos) {
      return;
    }
    std::int64_t rows = std::stoll(line.substr(at + label.size()));
    if (!times.empty()) {
      rows *= std::stoll(line.substr(line.find(times, at) + times.size()));
    }
    rows_read = std::max(rows_read, rows);
  }
};

class HistoryPlan : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data_ = std::make_unique<Data>();
    data_->fill();
    data_->add_source_rows();
    connection_ = data_->connect();
  }
  static void TearDownTestSuite() {
    connection_.reset();
    data_.reset();
  }

  static Executed execute(BuiltQuery query, std::string_view settings = plan_by_index) {
    const Result<Executed> executed = connection_->read([&](Session& session) -> Result<Executed> {
      session.queue(settings);
      POSTRIDER_TRY(const Rows plan,
                    session.run_once("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + query.sql,
                                     query.parameters));
      return Executed{plan};
    });
    EXPECT_TRUE(executed.has_value()) << query.sql << ": " << executed.error().message;
    return executed ? *executed : Executed{Rows{}};
  }

  static Executed list(const DeliveryFilter& filter, const Page& page = {},
                       ResourceSize resource = ResourceSize::small) {
    DeliveryScan scan = plan_scan(filter, resource);
    scan.before = page.before;
    scan.scanned_max = page.scanned_max;
    return execute(select_deliveries(scan, page));
  }

  static inline std::unique_ptr<Data> data_;
  static inline std::shared_ptr<ReadConnection> connection_;
};

constexpr std::int64_t page_rows = 51;  // One more than a page has.

/// Small tables may be read as a whole.
bool scans_large_table(const std::string& plan) {
  return std::ranges::any_of(std::array{"waiting", "delivery", "event", "attempt", "source_row"},
                             [&plan](const std::string& table) {
                               return plan.find("Seq Scan on " + table) != std::string::npos;
                             });
}

MATCHER_P(ReadsAtMost, rows, "") {
  *result_listener << "it read " << arg.rows_read << " rows:\n" << arg.text;
  return arg.rows_read <= rows && !scans_large_table(arg.text);
}

void PrintTo(const Executed& executed, std::ostream* out) { *out << executed.rows_read << " rows"; }

TEST_F(HistoryPlan, APageOfDeliveriesReadsItsRowsOnly) {
  const std::vector<DeliveryState> dead{DeliveryState::dead_letter};
  const std::vector<DeliveryState> waiting{DeliveryState::pending, DeliveryState::retrying};
  const DeliveryFilter filters[] = {
      {},
      {.tenant_id = Data::tenant(3)},
      {.webhook_ids = {Data::webhook(7)}},
      {.webhook_ids = {Data::webhook(7), Data::webhook(8), Data::webhook(9)}},
      {.event_id = Data::event(300)},
      {.states = dead},
      {.tenant_id = Data::tenant(0), .states = dead},
      {.webhook_ids = {Data::webhook(0)}, .states = dead},
      {.states = waiting},
      {.webhook_ids = {Data::webhook(4)}, .states = waiting},
  };
  for (const DeliveryFilter& filter : filters) {
    for (const std::int64_t before : {30'000, 22'000, 15'000}) {
      EXPECT_THAT(list(filter, {.before = before}), ReadsAtMost(page_rows));
    }
  }
}

TEST_F(HistoryPlan, APageOfDeliveriesOfAResourceReadsThoseOfTheResource) {
  constexpr std::int64_t of_resource = Data::delivery_count / Data::resource_step;
  EXPECT_THAT(list({.resource_id = Data::resource(40)}), ReadsAtMost(of_resource));
  const Executed size = execute(select_resource_size(Data::resource(40), 1'000));
  EXPECT_THAT(size, ReadsAtMost(of_resource));
}

TEST_F(HistoryPlan, AFilterThatMatchesNothingReadsNoMoreThanTheLimit) {
  const Page page{.scanned_max = 500};
  const DeliveryFilter none{.failure_categories = {FailureCategory::dns}};
  DeliveryFilter of_tenant = none;
  of_tenant.tenant_id = Data::tenant(3);
  DeliveryFilter of_webhooks = none;
  of_webhooks.webhook_ids = {Data::webhook(3), Data::webhook(4)};
  DeliveryFilter of_many = none;
  for (int number = 0; number <= static_cast<int>(merged_webhooks_max); ++number) {
    of_many.webhook_ids.push_back(Data::webhook(number));
  }
  const DeliveryFilter of_type{.event_types = {"never.*"}};
  const DeliveryFilter blocked{.circuit_blocked = true};
  for (const DeliveryFilter& filter : {none, of_tenant, of_webhooks, of_many, of_type, blocked}) {
    EXPECT_THAT(list(filter, page), ReadsAtMost(page.scanned_max));
  }
  const DeliveryFilter of_resource{.resource_id = "none"};
  EXPECT_THAT(list(of_resource, page, ResourceSize::large), ReadsAtMost(page.scanned_max));
}

TEST_F(HistoryPlan, ACountReadsNoMoreThanTheLimit) {
  const DeliveryFilter of_tenant{.tenant_id = Data::tenant(3)};
  const DeliveryFilter of_type{.event_types = {"order.*"}};
  for (const DeliveryFilter& filter : {DeliveryFilter{}, of_tenant, of_type}) {
    DeliveryScan scan = plan_scan(filter, ResourceSize::large);
    scan.scanned_max = 500;
    EXPECT_THAT(execute(count_scanned(scan)), ReadsAtMost(500));
    EXPECT_THAT(execute(select_scan_end(scan)), ReadsAtMost(501));
  }
  const DeliveryFilter dead{.states = {DeliveryState::dead_letter}};
  DeliveryScan scan = plan_scan(dead, ResourceSize::large);
  scan.scanned_max = 50;
  EXPECT_THAT(execute(select_dead_letter_facts(scan)), ReadsAtMost(50));
}

TEST_F(HistoryPlan, APageOfEventsReadsItsRowsOnly) {
  const EventFilter filters[] = {
      {},
      {.tenant_id = Data::tenant(3)},
      {.matched = true},
      {.matched = false},
      {.tenant_id = Data::tenant(1), .matched = false},
      {.resource_id = Data::resource(40)},
  };
  for (const EventFilter& filter : filters) {
    // One event in a hundred is unmatched, and one page has at most one of them.
    const std::int64_t rows = filter.matched == true ? page_rows + 1 : page_rows;
    const Page page{.before = 15'000};
    EXPECT_THAT(execute(select_events(plan_events(filter, page), page)), ReadsAtMost(rows));
    const ForwardPage forward{.after = 15'000};
    EXPECT_THAT(execute(select_events_for(plan_events(filter, forward), Data::webhook(1), forward)),
                ReadsAtMost(rows));
  }
}

TEST_F(HistoryPlan, APageOfAttemptsReadsItsRowsOnly) {
  const AttemptPosition before{
      .executed_at = wall_from_unix_ms(Data::time_of(15'000)), .delivery = 15'000, .number = 1};
  const AttemptFilter filters[] = {
      {},
      {.webhook_ids = {Data::webhook(7)}},
      {.delivery_id = Data::delivery(300)},
      {.event_types = {"order.paid"}},
  };
  for (const AttemptFilter& filter : filters) {
    for (const AttemptPage& page : {AttemptPage{}, AttemptPage{.before = before}}) {
      // Attempts of the same time are sorted: a few more are read.
      EXPECT_THAT(execute(select_attempts(plan_attempts(filter, page), page)),
                  ReadsAtMost(2 * page_rows));
    }
  }
}

TEST_F(HistoryPlan, AttemptsThatDoNotMatchAreReadUpToTheLimit) {
  const AttemptPage page{.scanned_max = 500};
  const AttemptFilter of_nobody{.tenant_id = "nobody"};
  const AttemptFilter failed{.webhook_ids = {Data::webhook(7)},
                             .statuses = {AttemptStatus::failed}};
  for (const AttemptFilter& filter : {of_nobody, failed}) {
    EXPECT_THAT(execute(select_attempts(plan_attempts(filter, page), page)),
                ReadsAtMost(page.scanned_max + 50));
  }
}

TEST_F(HistoryPlan, TheLatestResultsOfAWebhookAreFoundInManySpans) {
  // The first webhook has never failed, the second was never attempted.
  const Array ids = id_array(std::vector<WebhookId>{Data::webhook(1), Data::webhook(2)});
  data_->run(
      "INSERT INTO webhook_stats (span, webhook_id, tenant_id, writer, tally, last_success_at)"
      " SELECT n, w.id, 't', w.id, '', CASE WHEN w.place = 1 THEN 300000::bigint * n END"
      " FROM generate_series(1, 10000) n, unnest($1::uuid[]) WITH ORDINALITY w (id, place)",
      Parameters::of(ids));
  EXPECT_THAT(
      execute({.sql = std::string{latest_results_query()}, .parameters = Parameters::of(ids)}),
      ReadsAtMost(10));
  EXPECT_THAT(
      execute({.sql = std::string{lane_queries().back()}, .parameters = Parameters::of(ids)}),
      ReadsAtMost(10));
}

TEST_F(HistoryPlan, SourceRowsAreFoundByTheirEventsAndInPages) {
  std::vector<EventId> events;
  for (int number = Data::final_count - 49; number <= Data::final_count + 50; ++number) {
    events.push_back(Data::event(number));
  }
  const SourceRowQueries queries = source_row_queries();
  const auto execute_once = [](std::string_view sql, Parameters parameters) {
    return execute({.sql = std::string{sql}, .parameters = std::move(parameters)},
                   plan_once_by_index);
  };
  EXPECT_THAT(execute_once(queries.rows_of, Parameters::of(id_array(events), "orders")),
              ReadsAtMost(100));
  EXPECT_THAT(execute_once(queries.deliveries, Parameters::of(id_array(events))), ReadsAtMost(100));
  EXPECT_THAT(
      execute_once(queries.unsettled, Parameters::of("orders", 22'000, "", std::int64_t{100})),
      ReadsAtMost(100));
}

}  // namespace
}  // namespace postrider::postgres
