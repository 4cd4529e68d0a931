// Checks that queries use the intended indexes. With a million rows a wrong plan is an outage, and
// no other test would notice it.
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ports/store_copy.h"

#include "adapters/sql/admin/notifications.h"
#include "adapters/sql/admin/operation_row.h"
#include "adapters/sqlite/copy/copied_rows.h"
#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/history/history_query.h"
#include "adapters/sqlite/ledger/lanes.h"
#include "adapters/sqlite/ledger/reschedule_writer.h"

#include "tests/support/open_sqlite.h"

namespace postrider::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class QueryPlan : public testing::Test {
 protected:
  QueryPlan() {
    Result<sqlite::Database> opened =
        sqlite::Database::open({.file = sqlite::database_file(store_.options().directory)});
    EXPECT_TRUE(opened.has_value());
    database_.emplace(*std::move(opened));
  }

  std::string plan(const std::string& sql) {
    Result<sqlite::Statement> statement = database_->prepare("EXPLAIN QUERY PLAN " + sql);
    EXPECT_TRUE(statement.has_value()) << sql;
    std::string text;
    sqlite::Query query = statement->query();
    while (query.next().value_or(false)) {
      text += query.text(3) + "\n";
    }
    return text;
  }

  std::string plan(const DeliveryFilter& filter, const sqlite::DeliveryTerms& terms) {
    return plan(sqlite::select_deliveries(filter, terms, {.before = 1'000}).sql());
  }

  OpenSqlite store_;
  std::optional<sqlite::Database> database_;
};

TEST_F(QueryPlan, ListsUseAnIndexAndNeverSort) {
  const DeliveryFilter all;
  const DeliveryFilter dead{.states = {DeliveryState::dead_letter}};
  const struct {
    DeliveryFilter filter;
    sqlite::DeliveryTerms terms;
    std::string index;
  } cases[] = {
      {all, {}, "SEARCH d USING INTEGER PRIMARY KEY (rowid<?)"},
      {all, {.tenant = 1}, "SEARCH d USING INTEGER PRIMARY KEY (rowid<?)"},
      {all, {.event = {{1, 2}}}, "SEARCH d USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
      {dead, {}, "SEARCH d USING INDEX delivery_dead (state=? AND rowid<?)"},
      {dead, {.lane = {{1, 2}}}, "SEARCH d USING INDEX delivery_dead_lane (lane=? AND rowid<?)"},
      {dead, {.tenant = 1}, "SEARCH d USING INDEX delivery_dead_tenant (tenant=? AND rowid<?)"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(plan(c.filter, c.terms), AllOf(HasSubstr(c.index), Not(HasSubstr("TEMP B-TREE"))));
  }
  EXPECT_THAT(plan(all, {.event = {{1, 2, true}}}),
              HasSubstr("SEARCH d USING INDEX delivery_late (event=? AND rowid<?)"));
  EXPECT_THAT(
      plan(sqlite::select_events({.matched = false}, {}, {.before = 9}).sql()),
      AllOf(HasSubstr("SEARCH e USING INDEX event_unmatched (delivery_count=? AND rowid<?)"),
            HasSubstr("SEARCH l USING INDEX delivery_late (event=?)"),
            Not(HasSubstr("TEMP B-TREE"))));
  EXPECT_THAT(plan(sqlite::select_events_forward({}, {.tenant = 1}, {.after = 9}).sql()),
              AllOf(HasSubstr("USING INDEX event_tenant (tenant=? AND rowid>?)"),
                    Not(HasSubstr("TEMP B-TREE"))));
  EXPECT_THAT(plan(sqlite::select_events({}, {.tenant = 1}, {.before = 9}).sql()),
              AllOf(HasSubstr("USING INDEX event_tenant (tenant=? AND rowid<?)"),
                    Not(HasSubstr("TEMP B-TREE"))));
}

TEST_F(QueryPlan, ResourceHasAnIndex) {
  const DeliveryFilter filter{.resource_id = "swap-1"};
  EXPECT_THAT(plan(filter, {.resource = {{}}}),
              AllOf(HasSubstr("SEARCH e USING INDEX event_resource (resource_id=?)"),
                    HasSubstr("SEARCH d USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
                    Not(HasSubstr("TEMP B-TREE"))));
  EXPECT_THAT(plan(filter, {.resource = {{.late = true, .lanes = {}}}}),
              AllOf(HasSubstr("SEARCH e USING COVERING INDEX event_resource (resource_id=?)"),
                    HasSubstr("SEARCH d USING INDEX delivery_late (event=?")));
  EXPECT_THAT(plan(sqlite::select_events({.resource_id = "swap-1"}, {}, {.before = 9}).sql()),
              AllOf(HasSubstr("SEARCH e USING INDEX event_resource (resource_id=? AND rowid<?)"),
                    Not(HasSubstr("TEMP B-TREE"))));
}

TEST_F(QueryPlan, TypePatternIsCheckedRowByRow) {
  const sqlite::TypeTerms types{.everything = false, .numbers = {1}, .prefixes = {"a.", "b."}};
  EXPECT_THAT(plan({}, {.types = types}),
              AllOf(HasSubstr("SEARCH d USING INTEGER PRIMARY KEY (rowid<?)"),
                    HasSubstr("CORRELATED SCALAR SUBQUERY"),
                    HasSubstr("SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"),
                    Not(HasSubstr("TEMP B-TREE"))));
  EXPECT_THAT(plan(sqlite::select_events_forward({}, {.tenant = 1, .types = types}, {}).sql()),
              AllOf(HasSubstr("USING INDEX event_tenant (tenant=? AND rowid>?)"),
                    HasSubstr("SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"),
                    Not(HasSubstr("TEMP B-TREE"))));
}

TEST_F(QueryPlan, ListOfAWebhookFollowsItsChain) {
  const std::string text = plan({}, {.lane = {{.lane = 1, .newest = 500}}});
  EXPECT_THAT(text, AllOf(HasSubstr("CO-ROUTINE chain"),
                          HasSubstr("SEARCH d USING INTEGER PRIMARY KEY (rowid=?)"),
                          Not(HasSubstr("SCAN d")), Not(HasSubstr("TEMP B-TREE"))));
}

TEST_F(QueryPlan, EngineQueriesNeverScanOrSort) {
  std::vector<std::string_view> queries = sqlite::lane_queries();
  std::ranges::copy(sqlite::rescheduling_queries(), std::back_inserter(queries));
  for (const std::string_view sql : queries) {
    EXPECT_THAT(plan(std::string{sql}),
                AllOf(HasSubstr("SEARCH"), Not(HasSubstr("SCAN")), Not(HasSubstr("TEMP B-TREE"))))
        << sql;
  }
}

TEST_F(QueryPlan, OperationsWithWorkAndOldOnesAreFoundByIndex) {
  const std::vector<std::string_view> queries = sql::operation_queries();
  ASSERT_EQ(queries.size(), 2u);
  EXPECT_THAT(plan(std::string{queries[0]}), HasSubstr("USING INDEX operation_unfinished"));
  EXPECT_THAT(plan(std::string{queries[1]}), HasSubstr("USING INDEX operation_finished"));
  for (const std::string_view sql : queries) {
    EXPECT_THAT(plan(std::string{sql}), AllOf(Not(HasSubstr("SCAN")), Not(HasSubstr("TEMP"))));
  }
}

TEST_F(QueryPlan, NotificationsAreNeverScannedOrSorted) {
  const std::string indexes[] = {"notification_waiting (id>?)", "notification_made (made_at<?)",
                                 "notification_channel_state (channel_id=?)",
                                 "notification_channel_state (channel_id=?)"};
  const std::vector<std::string_view> queries = sql::notification_queries();
  ASSERT_EQ(queries.size(), std::size(indexes));
  for (std::size_t i = 0; i < queries.size(); ++i) {
    EXPECT_THAT(plan(std::string{queries[i]}),
                AllOf(HasSubstr(indexes[i]), Not(HasSubstr("SCAN notification\n")),
                      Not(HasSubstr("TEMP B-TREE"))));
  }
}

TEST_F(QueryPlan, ACopyReadsEveryTableInItsOwnOrder) {
  for (const std::string_view table : copied_tables) {
    const sqlite::CopiedRows* const rows = sqlite::find_copied_rows(table);
    if (rows == nullptr) {
      EXPECT_EQ(table, "attempt");
      continue;
    }
    for (const sqlite::CopiedPart& part : rows->parts) {
      EXPECT_THAT(plan(fmt::format("SELECT v.* FROM {} ORDER BY {}", part.from, part.order)),
                  AllOf(HasSubstr("SCAN"), Not(HasSubstr("TEMP B-TREE"))))
          << table;
    }
  }
}

}  // namespace
}  // namespace postrider::test
