#include "adapters/sqlite/history/history_floor.h"

#include <algorithm>

#include <fmt/format.h>

namespace postrider::sqlite {
namespace {

struct SequenceBounds {
  std::int64_t oldest = 0;
  std::int64_t newest = 0;
};

Result<std::optional<std::int64_t>> first_number(Database& database, const Select& select) {
  POSTRIDER_TRY(Statement statement, select.prepare(database));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  return found && !query.is_null(0) ? std::optional{query.integer(0)} : std::nullopt;
}

/// Needs no scan.
Result<std::optional<SequenceBounds>> find_bounds(Database& database, std::string_view table) {
  POSTRIDER_TRY(Statement statement,
                database.prepare(fmt::format("SELECT (SELECT min(sequence) FROM {0}),"
                                             " (SELECT max(sequence) FROM {0})",
                                             table)));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  if (!found || query.is_null(0)) {
    return std::nullopt;
  }
  return SequenceBounds{query.integer(0), query.integer(1)};
}

/// For a table that is read by sequence. Counts sequences instead of rows, which is safe because
/// there are never more rows than sequences.
Result<std::optional<std::int64_t>> table_floor(Database& database, std::string_view table,
                                                const ScanLimit& limit) {
  POSTRIDER_TRY(const std::optional<SequenceBounds> bounds, find_bounds(database, table));
  if (!bounds) {
    return std::nullopt;
  }
  const std::int64_t top = std::min(limit.before.value_or(bounds->newest + 1), bounds->newest + 1);
  const std::int64_t floor = top - limit.scanned_max;
  return floor > bounds->oldest ? std::optional{floor} : std::nullopt;
}

/// Selects the last row within the limit.
std::string limit_clause(std::uint32_t scanned_max) {
  return fmt::format(" LIMIT 1 OFFSET {}", std::max(scanned_max, 1u) - 1);
}

/// Returns `bound` only if `beyond(bound)` finds a row.
template <class Beyond>
Result<std::optional<std::int64_t>> bound_if_rows_beyond(Database& database,
                                                         std::optional<std::int64_t> bound,
                                                         Beyond beyond) {
  if (!bound) {
    return std::nullopt;
  }
  const std::int64_t at = *bound;
  POSTRIDER_TRY(const std::optional<std::int64_t> found, first_number(database, beyond(at)));
  return found ? bound : std::nullopt;
}

}  // namespace

Result<std::optional<std::int64_t>> delivery_floor(Database& database, const DeliveryFilter& filter,
                                                   const DeliveryTerms& terms,
                                                   const ScanLimit& limit) {
  if (terms.event || terms.resource) {
    return std::nullopt;  // An event has at most one delivery per webhook. See is_small_resource.
  }
  if (follows_chain(filter, terms)) {
    const Select select{chain_of(*terms.lane) + " SELECT sequence FROM chain" +
                        limit_clause(limit.scanned_max)};
    POSTRIDER_TRY(const std::optional<std::int64_t> floor, first_number(database, select));
    return bound_if_rows_beyond(database, floor, [lane = terms.lane->lane](std::int64_t at) {
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
    return table_floor(database, "delivery", limit);
  }
  const auto along_index = [&](std::optional<std::int64_t> before) {
    Select select{
        fmt::format("SELECT d.sequence FROM delivery d {}", delivery_index(filter, terms))};
    where_indexed(select, filter,
                  {.tenant = terms.lane ? std::nullopt : terms.tenant,
                   .lane = terms.lane,
                   .event = std::nullopt,
                   .resource = std::nullopt,
                   .types = {},
                   .floor = std::nullopt});
    if (before) {
      select.where("d.sequence < ?", *before);
    }
    select.append(" ORDER BY d.sequence DESC");
    return select;
  };
  Select select = along_index(limit.before);
  select.append(limit_clause(limit.scanned_max));
  POSTRIDER_TRY(const std::optional<std::int64_t> floor, first_number(database, select));
  return bound_if_rows_beyond(database, floor, along_index);
}

Result<std::optional<std::int64_t>> event_floor(Database& database, const EventFilter& filter,
                                                const EventTerms& terms, const ScanLimit& limit) {
  if (event_index(filter, terms) == "NOT INDEXED") {
    return table_floor(database, "event", limit);
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
  Select select = along_index(limit.before);
  select.append(limit_clause(limit.scanned_max));
  POSTRIDER_TRY(const std::optional<std::int64_t> floor, first_number(database, select));
  return bound_if_rows_beyond(database, floor, along_index);
}

Result<std::optional<std::int64_t>> event_ceiling(Database& database, const EventFilter& filter,
                                                  const EventTerms& terms,
                                                  const ForwardPage& page) {
  if (event_index(filter, terms) == "NOT INDEXED") {
    POSTRIDER_TRY(const std::optional<SequenceBounds> bounds, find_bounds(database, "event"));
    if (!bounds) {
      return std::nullopt;
    }
    const std::int64_t ceiling = std::max(page.after, bounds->oldest - 1) + page.scanned_max;
    return ceiling < bounds->newest ? std::optional{ceiling} : std::nullopt;
  }
  const auto along_index = [&](std::int64_t after) {
    Select select{fmt::format("SELECT e.sequence FROM event e {}", event_index(filter, terms))};
    where_indexed(select, filter, terms);
    select.where("e.sequence > ?", after);
    select.append(" ORDER BY e.sequence");
    return select;
  };
  Select select = along_index(page.after);
  select.append(limit_clause(page.scanned_max));
  POSTRIDER_TRY(const std::optional<std::int64_t> ceiling, first_number(database, select));
  return bound_if_rows_beyond(database, ceiling, along_index);
}

}  // namespace postrider::sqlite
