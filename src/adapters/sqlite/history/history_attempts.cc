#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "adapters/sqlite/history/history_lists.h"
#include "adapters/sqlite/history/history_query.h"
#include "adapters/sqlite/history/history_rows.h"
#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

constexpr std::string_view lane_sql = "SELECT lane FROM lane WHERE webhook_id = ?1";
constexpr std::string_view delivery_sql = "SELECT sequence FROM delivery WHERE id = ?1";

constexpr std::string_view chain_head_sql =
    "SELECT last_attempt_delivery, last_attempt_number FROM lane WHERE lane = ?1";

constexpr std::string_view after_cursor_sql =
    "SELECT a.previous_delivery, a.previous_number FROM attempt a"
    " CROSS JOIN delivery d ON d.sequence = a.delivery"
    " WHERE a.delivery = ?1 AND a.number = ?2 AND d.lane = ?3";

// {0}: the first attempt to read. {1}: the number of steps.
constexpr std::string_view chain_sql =
    "WITH RECURSIVE chain (delivery, number) AS (SELECT {0} UNION ALL"
    " SELECT p.previous_delivery, p.previous_number FROM chain c CROSS JOIN attempt p"
    " ON p.delivery = c.delivery AND p.number = c.number WHERE p.previous_delivery > 0 LIMIT {1})"
    " SELECT {2} FROM chain c CROSS JOIN attempt a"
    " ON a.delivery = c.delivery AND a.number = c.number";

constexpr std::string_view join_delivery =
    " CROSS JOIN delivery d NOT INDEXED ON d.sequence = a.delivery";
constexpr std::string_view position_columns = "a.executed_at, a.delivery, a.number";
constexpr std::string_view newest_first =
    " ORDER BY a.executed_at DESC, a.delivery DESC, a.number DESC";

/// The numbers of a filter's names.
struct AttemptTerms {
  std::optional<std::int64_t> tenant;
  std::vector<std::int64_t> lanes;
  std::optional<std::int64_t> delivery;
  TypeTerms types;
};

/// The attempts that one call may read, by time.
struct TimeRange {
  std::optional<WallTime> first;
  std::optional<WallTime> last;  // Inclusive.
  std::optional<AttemptPosition> before;
  std::optional<AttemptPosition> floor;  // The oldest to read.
};

struct ListedRow {
  AttemptPosition position;
  AttemptRecord record;
};

/// Returns nullopt if nothing can match.
Result<std::optional<AttemptTerms>> find_terms(Database& database, const AttemptFilter& filter) {
  AttemptTerms terms;
  POSTRIDER_TRY(terms.types, find_types(database, filter.event_types));
  POSTRIDER_TRY(terms.lanes, numbers_of(database, lane_sql, filter.webhook_ids));
  if (filter.tenant_id) {
    POSTRIDER_TRY(terms.tenant, tenant_number(database, *filter.tenant_id));
  }
  if (filter.delivery_id) {
    POSTRIDER_TRY(const std::vector<std::int64_t> found,
                  read_numbers(database, delivery_sql, *filter.delivery_id));
    terms.delivery = found.empty() ? std::nullopt : std::optional{found.front()};
  }
  const bool nothing = (filter.tenant_id && !terms.tenant) ||
                       (filter.delivery_id && !terms.delivery) || terms.types.match_nothing() ||
                       (!filter.webhook_ids.empty() && terms.lanes.empty());
  return nothing ? std::nullopt : std::optional{std::move(terms)};
}

std::string_view condition_of(AttemptStatus status) {
  static_assert(static_cast<int>(FailureCategory::timeout) == 0);
  switch (status) {
    case AttemptStatus::succeeded:
      return "a.failure_category IS NULL";
    case AttemptStatus::failed:
      return "a.failure_category IS NOT NULL";
    case AttemptStatus::timeout:
      return "a.failure_category = 0";
    case AttemptStatus::exhausted:
      return "a.failure_category IS NOT NULL AND a.next_retry_at IS NULL";
    case AttemptStatus::blocked:
      break;
  }
  return "0";
}

void where_all(Select& select, const AttemptFilter& filter, const AttemptTerms& terms) {
  if (terms.tenant) {
    select.where("+d.tenant = ?", *terms.tenant);
  }
  select.where_in("+d.lane", terms.lanes);
  where_type(select, "d", terms.types);
  select.where_in("+a.failure_category", filter.failure_categories);
  std::string statuses;
  for (const AttemptStatus status : filter.statuses) {
    statuses += fmt::format("{}{}", statuses.empty() ? "" : " OR ", condition_of(status));
  }
  if (!statuses.empty()) {
    select.where("(" + statuses + ")");
  }
  where_between(select, "+a.executed_at", filter.from, filter.to);
}

/// The plus sign keeps the comparison from the index, which gets a single bound on each side.
std::string compare(std::string_view comparison, const AttemptPosition& position) {
  return fmt::format("(+a.executed_at, a.delivery, a.number) {} ({}, {}, {})", comparison,
                     to_unix_ms(position.executed_at), position.delivery, position.number);
}

void where_in_range(Select& select, const TimeRange& range) {
  std::optional<WallTime> last = range.last;
  if (range.before) {
    last = std::min(last.value_or(range.before->executed_at), range.before->executed_at);
    select.where(compare("<", *range.before));
  }
  std::optional<WallTime> first = range.first;
  if (range.floor) {
    first = std::max(first.value_or(range.floor->executed_at), range.floor->executed_at);
    select.where(compare(">=", *range.floor));
  }
  if (last) {
    select.where("a.executed_at <= ?", *last);
  }
  if (first) {
    select.where("a.executed_at >= ?", *first);
  }
}

std::string limit_clause(const AttemptPage& page) {
  return fmt::format(" LIMIT {} OFFSET {}", std::int64_t{page.limit} + 1, page.offset);
}

Result<std::optional<AttemptPosition>> first_position(Database& database, const Select& select) {
  POSTRIDER_TRY(Statement statement, select.prepare(database));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return std::nullopt;
  }
  return AttemptPosition{query.time(0), query.integer(1), query.as<std::uint32_t>(2)};
}

Result<std::vector<ListedRow>> read_listed(Database& database, const Select& select) {
  POSTRIDER_TRY(Statement statement, select.prepare(database));
  std::vector<ListedRow> rows;
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return rows;
    }
    POSTRIDER_TRY(AttemptRecord record, read_listed_attempt(query));
    const AttemptPosition position{.executed_at = record.attempt.outcome.executed_at,
                                   .delivery = query.integer(listed_attempt_delivery_column),
                                   .number = record.attempt.number};
    rows.push_back({position, std::move(record)});
  }
}

bool is_full(const std::vector<ListedRow>& rows, const AttemptPage& page) {
  return rows.size() > page.limit;
}

/// `rows` has one row more than the page if there are more. `floor` is set if the scan stopped at
/// it.
ListedAttempts to_listed(std::vector<ListedRow> rows, const AttemptPage& page,
                         std::optional<AttemptPosition> floor) {
  ListedAttempts listed{.items = {}, .next = floor};
  if (is_full(rows, page)) {
    rows.resize(page.limit);
    listed.next = rows.back().position;
  }
  std::ranges::sort(rows, std::greater<>{}, &ListedRow::position);
  for (ListedRow& row : rows) {
    listed.items.push_back(std::move(row.record));
  }
  return listed;
}

/// The attempts of one delivery are few: no limit is needed.
Result<ListedAttempts> list_of_delivery(Database& database, const AttemptFilter& filter,
                                        const AttemptTerms& terms, const AttemptPage& page) {
  Select select{fmt::format("SELECT {} FROM attempt a NOT INDEXED{}",
                            POSTRIDER_LISTED_ATTEMPT_COLUMNS, join_delivery)};
  select.where("a.delivery = ?", terms.delivery.value_or(0));
  where_all(select, filter, terms);
  where_in_range(select, {.first = {}, .last = {}, .before = page.before, .floor = {}});
  select.append(newest_first);
  select.append(limit_clause(page));
  POSTRIDER_TRY(std::vector<ListedRow> rows, read_listed(database, select));
  return to_listed(std::move(rows), page, std::nullopt);
}

/// Returns nullopt if the lanes have no attempt.
Result<std::optional<WallTime>> latest_attempt(Database& database, const AttemptTerms& terms) {
  Select select{
      "SELECT max(max(ifnull(l.last_success_at, 0), ifnull(l.last_failure_at, 0))) FROM lane l"};
  select.where_in("l.lane", terms.lanes);
  if (terms.tenant) {
    select.where("(l.tenant = ? OR l.tenant IS NULL)", *terms.tenant);
  }
  POSTRIDER_TRY(Statement statement, select.prepare(database));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  return found ? query.time_or_null(0) : std::nullopt;
}

/// The oldest attempt to read. Returns nullopt if all remaining ones are within the limit.
Result<std::optional<AttemptPosition>> time_floor(Database& database, TimeRange range,
                                                  std::uint32_t scanned_max) {
  const auto select_position = [&](std::uint32_t skipped) {
    Select select{
        fmt::format("SELECT {} FROM attempt a INDEXED BY attempt_time", position_columns)};
    where_in_range(select, range);
    select.append(fmt::format("{} LIMIT 1 OFFSET {}", newest_first, skipped));
    return select;
  };
  POSTRIDER_TRY(const std::optional<AttemptPosition> floor,
                first_position(database, select_position(scanned_max - 1)));
  if (!floor) {
    return std::nullopt;
  }
  range.before = floor;
  POSTRIDER_TRY(const std::optional<AttemptPosition> beyond,
                first_position(database, select_position(0)));
  return beyond ? floor : std::nullopt;
}

Result<ListedAttempts> list_by_time(Database& database, const AttemptFilter& filter,
                                    const AttemptTerms& terms, const AttemptPage& page) {
  TimeRange range{.first = filter.from, .last = {}, .before = page.before, .floor = {}};
  if (filter.to) {
    range.last = *filter.to - Millis{1};
  }
  if (terms.tenant || !terms.lanes.empty()) {
    POSTRIDER_TRY(const std::optional<WallTime> latest, latest_attempt(database, terms));
    if (!latest) {
      return ListedAttempts{};
    }
    range.last = std::min(range.last.value_or(*latest), *latest);
  }
  POSTRIDER_TRY(range.floor, time_floor(database, range, page.scanned_max));
  Select select{fmt::format("SELECT {} FROM attempt a INDEXED BY attempt_time{}",
                            POSTRIDER_LISTED_ATTEMPT_COLUMNS, join_delivery)};
  where_all(select, filter, terms);
  where_in_range(select, range);
  select.append(newest_first);
  select.append(limit_clause(page));
  POSTRIDER_TRY(std::vector<ListedRow> rows, read_listed(database, select));
  return to_listed(std::move(rows), page, range.floor);
}

/// Where the chain of a lane's attempts is entered. `before` is set if the cursor is not one of
/// them.
struct ChainStart {
  std::string first;
  std::optional<AttemptPosition> before;
};

Result<ChainStart> chain_start(Database& database, std::int64_t lane,
                               const std::optional<AttemptPosition>& before) {
  const auto read_start = [](Query query) -> Result<std::optional<std::string>> {
    POSTRIDER_TRY(const bool found, query.next());
    return found ? std::optional{fmt::format("{}, {}", query.integer(0), query.integer(1))}
                 : std::nullopt;
  };
  if (before) {
    POSTRIDER_TRY(Statement statement, database.prepare(after_cursor_sql));
    POSTRIDER_TRY(std::optional<std::string> next,
                  read_start(statement.query(before->delivery, before->number, lane)));
    if (next) {
      return ChainStart{*std::move(next), std::nullopt};
    }
  }
  POSTRIDER_TRY(Statement statement, database.prepare(chain_head_sql));
  POSTRIDER_TRY(std::optional<std::string> head, read_start(statement.query(lane)));
  return ChainStart{std::move(head).value_or("0, 0"), before};
}

/// Follows the chain of the lane's attempts.
Result<ListedAttempts> list_of_lane(Database& database, const AttemptFilter& filter,
                                    const AttemptTerms& terms, const AttemptPage& page) {
  POSTRIDER_TRY(const ChainStart start, chain_start(database, terms.lanes.front(), page.before));
  Select select{
      fmt::format(chain_sql, start.first, page.scanned_max, POSTRIDER_LISTED_ATTEMPT_COLUMNS)};
  select.append(join_delivery);
  where_all(select, filter, terms);
  where_in_range(select, {.first = {}, .last = {}, .before = start.before, .floor = {}});
  select.append(limit_clause(page));
  POSTRIDER_TRY(std::vector<ListedRow> rows, read_listed(database, select));
  std::optional<AttemptPosition> floor;
  if (!is_full(rows, page)) {
    Select last{fmt::format(chain_sql, start.first, page.scanned_max, position_columns)};
    last.append(
        " CROSS JOIN attempt p ON p.delivery = a.previous_delivery"
        " AND p.number = a.previous_number");
    last.append(fmt::format(" LIMIT 1 OFFSET {}", page.scanned_max - 1));
    POSTRIDER_TRY(floor, first_position(database, last));
  }
  return to_listed(std::move(rows), page, floor);
}

}  // namespace

Result<ListedAttempts> list_attempts(Database& database, const AttemptFilter& filter,
                                     const AttemptPage& asked) {
  POSTRIDER_TRY(const std::optional<AttemptTerms> terms, find_terms(database, filter));
  if (!terms || asked.limit == 0) {
    return ListedAttempts{};
  }
  AttemptPage page = asked;
  page.scanned_max = std::max(page.scanned_max, 1u);
  if (terms->delivery) {
    return list_of_delivery(database, filter, *terms, page);
  }
  return filter.webhook_ids.size() == 1 ? list_of_lane(database, filter, *terms, page)
                                        : list_by_time(database, filter, *terms, page);
}

}  // namespace postrider::sqlite
