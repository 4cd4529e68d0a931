// Builds SQL from filters. The index is chosen here and named in the query, so that the plan does
// not depend on SQLite's statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ports/history.h"

#include "adapters/sql/select.h"
#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

using sql::Select;

/// Event types by number and by prefix. A prefix is compared with the type's name row by row,
/// because there may be more types than rows.
struct TypeTerms {
  bool everything = true;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> prefixes;

  [[nodiscard]] bool match_nothing() const {
    return !everything && numbers.empty() && prefixes.empty();
  }
};

/// The numbers of a filter's names, looked up before the query is built.
struct DeliveryTerms {
  struct EventRange {
    std::int64_t sequence = 0;
    std::int64_t delivery_count = 0;
    bool late = false;  // The late deliveries instead of the original ones.
  };
  struct LaneStart {
    std::int64_t lane = 0;
    std::int64_t newest = 0;  // The first row of its chain to read.
    std::uint32_t steps_max = scanned_default;
  };
  /// Reads the deliveries of each event with the filter's resource.
  struct ResourceScan {
    bool late = false;                // As in EventRange.
    std::vector<std::int64_t> lanes;  // Empty: all.
  };

  std::optional<std::int64_t> tenant;
  std::optional<LaneStart> lane;  // Several webhooks take several queries.
  std::optional<EventRange> event;
  std::optional<ResourceScan> resource = std::nullopt;
  TypeTerms types;
  std::optional<std::int64_t> floor;  // The oldest row to read.
};

struct EventTerms {
  std::optional<std::int64_t> tenant;
  TypeTerms types;
  std::optional<std::int64_t> floor;    // The oldest row to read.
  std::optional<std::int64_t> ceiling;  // The newest row to read.
};

/// True if the query follows the chain of a lane's deliveries.
[[nodiscard]] bool follows_chain(const DeliveryFilter& filter, const DeliveryTerms& terms);
/// The WITH clause of a query that yields the sequences of the chain, newest first.
[[nodiscard]] std::string chain_of(const DeliveryTerms::LaneStart& start);
/// The clause that selects the index: `INDEXED BY …` or `NOT INDEXED`.
[[nodiscard]] std::string_view delivery_index(const DeliveryFilter& filter,
                                              const DeliveryTerms& terms);
[[nodiscard]] std::string_view event_index(const EventFilter& filter, const EventTerms& terms);

/// `row` is the alias of the table that has the type.
void where_type(Select& select, std::string_view row, const TypeTerms& types);
void where_between(Select& select, std::string_view column, std::optional<WallTime> from,
                   std::optional<WallTime> to);

/// Adds the conditions that the index requires.
void where_indexed(Select& select, const DeliveryFilter& filter, const DeliveryTerms& terms);
void where_indexed(Select& select, const EventFilter& filter, const EventTerms& terms);

/// Newest first, at most one row more than the page's limit.
[[nodiscard]] Select select_deliveries(const DeliveryFilter& filter, const DeliveryTerms& terms,
                                       const Page& page);
[[nodiscard]] Select select_events(const EventFilter& filter, const EventTerms& terms,
                                   const Page& page);
/// Oldest first, above `page.after`, with delivery_count as the last column.
[[nodiscard]] Select select_events_forward(const EventFilter& filter, const EventTerms& terms,
                                           const ForwardPage& page);
/// Selects these columns of all deliveries below `before`, in no particular order.
[[nodiscard]] Select select_columns(const DeliveryFilter& filter, const DeliveryTerms& terms,
                                    std::optional<std::int64_t> before, std::string_view columns);

}  // namespace postrider::sqlite
