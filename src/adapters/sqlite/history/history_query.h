// From a filter to SQL. The index is chosen here and named in the query: which filter is fast must
// not depend on statistics.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "ports/history.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

/// A SELECT under construction: conditions joined by AND, with their values.
class Select {
 public:
  explicit Select(std::string head) : sql_(std::move(head)) {}

  /// `condition` has one `?` for `value`.
  template <class Value>
  void where(std::string_view condition, Value value) {
    add(condition);
    binders_.push_back([value = std::move(value)](Statement& statement, int index) {
      statement.bind_at(index, value);
    });
  }

  /// `column` is one of `values`; no values do not restrict.
  template <class Value>
  void where_in(std::string_view column, const std::vector<Value>& values) {
    if (values.empty()) {
      return;
    }
    std::string list;
    for (const Value& value : values) {
      list += list.empty() ? "?" : ", ?";
      binders_.push_back(
          [value](Statement& statement, int index) { statement.bind_at(index, value); });
    }
    add(std::string{column} + " IN (" + list + ")");
  }

  /// Without a value.
  void where(std::string_view condition) { add(condition); }

  /// `condition` has a `?` for each of `values`.
  void where_with(std::string_view condition, const std::vector<std::string>& values);

  void append(std::string_view text) { sql_.append(text); }

  [[nodiscard]] const std::string& sql() const { return sql_; }
  [[nodiscard]] Result<Statement> prepare(Database& database) const;

 private:
  void add(std::string_view condition);

  std::string sql_;
  bool restricted_ = false;
  std::vector<std::function<void(Statement&, int)>> binders_;
};

/// Event types by their numbers, and by what their names begin with. A prefix is looked up for each
/// row that is looked at: there may be more types than rows.
struct TypeTerms {
  bool everything = true;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> prefixes;

  [[nodiscard]] bool match_nothing() const {
    return !everything && numbers.empty() && prefixes.empty();
  }
};

/// What a filter's names are in the tables. Made by the reader before it builds the query.
struct DeliveryTerms {
  struct EventRange {
    std::int64_t sequence = 0;
    std::int64_t delivery_count = 0;
    bool late = false;  // The deliveries that came after the publish, instead of its own.
  };
  struct LaneStart {
    std::int64_t lane = 0;
    std::int64_t newest = 0;  // Where its chain is entered: nothing on the page is newer.
    std::uint32_t steps_max = looked_at_default;
  };

  std::optional<std::int64_t> tenant;
  std::optional<LaneStart> lane;  // Several webhooks are several queries.
  std::optional<EventRange> event;
  TypeTerms types;
  std::optional<std::int64_t> floor;  // Nothing older is looked at.
};

struct EventTerms {
  std::optional<std::int64_t> tenant;
  TypeTerms types;
  std::optional<std::int64_t> floor;    // Nothing older is looked at …
  std::optional<std::int64_t> ceiling;  // … and nothing newer.
};

/// Does the query go along the chain of a lane's deliveries?
[[nodiscard]] bool follows_chain(const DeliveryFilter& filter, const DeliveryTerms& terms);
/// The chain as the beginning of a query: the sequences from its newest end on.
[[nodiscard]] std::string chain_of(const DeliveryTerms::LaneStart& start);
/// The index by which the rows are found: `INDEXED BY …`.
[[nodiscard]] std::string_view delivery_index(const DeliveryFilter& filter,
                                              const DeliveryTerms& terms);
[[nodiscard]] std::string_view event_index(const EventFilter& filter, const EventTerms& terms);

/// What makes that index apply.
void where_indexed(Select& select, const DeliveryFilter& filter, const DeliveryTerms& terms);
void where_indexed(Select& select, const EventFilter& filter, const EventTerms& terms);

/// Newest first, one row more than the page's limit.
[[nodiscard]] Select select_deliveries(const DeliveryFilter& filter, const DeliveryTerms& terms,
                                       const Page& page);
[[nodiscard]] Select select_events(const EventFilter& filter, const EventTerms& terms,
                                   const Page& page);
/// Oldest first, above `page.after`, with the event's delivery_count behind its other columns.
[[nodiscard]] Select select_events_forward(const EventFilter& filter, const EventTerms& terms,
                                           const ForwardPage& page);
/// How many there are below `before`.
[[nodiscard]] Select count_deliveries(const DeliveryFilter& filter, const DeliveryTerms& terms,
                                      std::optional<std::int64_t> before);

}  // namespace postrider::sqlite
