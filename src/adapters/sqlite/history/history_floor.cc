#include "adapters/sqlite/history/history_floor.h"

#include <algorithm>

#include <fmt/format.h>

namespace postrider::sqlite {
namespace {

struct Ends {
  std::int64_t oldest = 0;
  std::int64_t newest = 0;
};

Result<std::optional<std::int64_t>> first_number(Database& database, const Select& select) {
  POSTRIDER_TRY(Statement statement, select.prepare(database));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  return found && !query.is_null(0) ? std::optional{query.integer(0)} : std::nullopt;
}

/// Both are found without a scan.
Result<std::optional<Ends>> ends_of(Database& database, std::string_view table) {
  POSTRIDER_TRY(Statement statement,
                database.prepare(fmt::format("SELECT (SELECT min(sequence) FROM {0}),"
                                             " (SELECT max(sequence) FROM {0})",
                                             table)));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  if (!found || query.is_null(0)) {
    return std::nullopt;
  }
  return Ends{query.integer(0), query.integer(1)};
}

/// In a table that is read by its sequence: numbers are as good as rows, there are no more of these
/// than of those.
Result<std::optional<std::int64_t>> table_floor(Database& database, std::string_view table,
                                                const Reach& reach) {
  POSTRIDER_TRY(const std::optional<Ends> ends, ends_of(database, table));
  if (!ends) {
    return std::nullopt;
  }
  const std::int64_t top = std::min(reach.before.value_or(ends->newest + 1), ends->newest + 1);
  const std::int64_t floor = top - reach.looked_at_max;
  return floor > ends->oldest ? std::optional{floor} : std::nullopt;
}

std::string last_within(std::uint32_t looked_at_max) {
  return fmt::format(" LIMIT 1 OFFSET {}", std::max(looked_at_max, 1u) - 1);
}

/// The floor is only one when something is below it.
template <class Below>
Result<std::optional<std::int64_t>> unless_last(Database& database,
                                                std::optional<std::int64_t> floor, Below below) {
  if (!floor) {
    return std::nullopt;
  }
  POSTRIDER_TRY(const std::optional<std::int64_t> more, first_number(database, below(*floor)));
  return more ? floor : std::nullopt;
}

}  // namespace

Result<std::optional<std::int64_t>> delivery_floor(Database& database, const DeliveryFilter& filter,
                                                   const DeliveryTerms& terms, const Reach& reach) {
  if (terms.event) {
    return std::nullopt;  // No more than there are webhooks.
  }
  if (follows_chain(filter, terms)) {
    Select select{chain_of(*terms.lane) + " SELECT sequence FROM chain" +
                  last_within(reach.looked_at_max)};
    POSTRIDER_TRY(const std::optional<std::int64_t> floor, first_number(database, select));
    return unless_last(database, floor, [lane = terms.lane->lane](std::int64_t at) {
      Select below{fmt::format(
          "SELECT d.previous FROM delivery d WHERE d.previous > 0"
          " AND (EXISTS (SELECT 1 FROM delivery p WHERE p.sequence = d.previous) OR EXISTS"
          " (SELECT 1 FROM straggler s WHERE s.lane = {} AND s.sequence < d.previous))"
          " AND d.sequence = {}",
          lane, at)};
      return below;
    });
  }
  if (!lists_dead_letters(filter)) {
    return table_floor(database, "delivery", reach);
  }
  const auto along_index = [&](std::optional<std::int64_t> before) {
    Select select{
        fmt::format("SELECT d.sequence FROM delivery d {}", delivery_index(filter, terms))};
    where_indexed(select, filter,
                  {.tenant = terms.lane ? std::nullopt : terms.tenant,
                   .lane = terms.lane,
                   .event = std::nullopt,
                   .types = {},
                   .floor = std::nullopt});
    if (before) {
      select.where("d.sequence < ?", *before);
    }
    select.append(" ORDER BY d.sequence DESC");
    return select;
  };
  Select select = along_index(reach.before);
  select.append(last_within(reach.looked_at_max));
  POSTRIDER_TRY(const std::optional<std::int64_t> floor, first_number(database, select));
  return unless_last(database, floor, along_index);
}

Result<std::optional<std::int64_t>> event_floor(Database& database, const EventFilter& filter,
                                                const EventTerms& terms, const Reach& reach) {
  if (event_index(filter, terms) == "NOT INDEXED") {
    return table_floor(database, "event", reach);
  }
  const auto along_index = [&](std::optional<std::int64_t> before) {
    Select select{fmt::format("SELECT e.sequence FROM event e {}", event_index(filter, terms))};
    where_indexed(select, filter, terms);
    if (before) {
      select.where("e.sequence < ?", *before);
    }
    select.append(" ORDER BY e.sequence DESC");
    return select;
  };
  Select select = along_index(reach.before);
  select.append(last_within(reach.looked_at_max));
  POSTRIDER_TRY(const std::optional<std::int64_t> floor, first_number(database, select));
  return unless_last(database, floor, along_index);
}

Result<std::optional<std::int64_t>> event_ceiling(Database& database, const EventFilter& filter,
                                                  const EventTerms& terms,
                                                  const ForwardPage& page) {
  if (event_index(filter, terms) == "NOT INDEXED") {
    POSTRIDER_TRY(const std::optional<Ends> ends, ends_of(database, "event"));
    if (!ends) {
      return std::nullopt;
    }
    const std::int64_t ceiling = std::max(page.after, ends->oldest - 1) + page.looked_at_max;
    return ceiling < ends->newest ? std::optional{ceiling} : std::nullopt;
  }
  const auto along_index = [&](std::int64_t after) {
    Select select{fmt::format("SELECT e.sequence FROM event e {}", event_index(filter, terms))};
    where_indexed(select, filter, terms);
    select.where("e.sequence > ?", after);
    select.append(" ORDER BY e.sequence");
    return select;
  };
  Select select = along_index(page.after);
  select.append(last_within(page.looked_at_max));
  POSTRIDER_TRY(const std::optional<std::int64_t> ceiling, first_number(database, select));
  return unless_last(database, ceiling, along_index);
}

}  // namespace postrider::sqlite
