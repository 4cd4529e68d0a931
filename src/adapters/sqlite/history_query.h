// From a filter to SQL. The index is chosen here and named in the query: which filter is fast must
// not depend on statistics.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "ports/history.h"

#include "adapters/sqlite/database.h"

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

  void append(std::string_view text) { sql_.append(text); }

  [[nodiscard]] const std::string& sql() const { return sql_; }
  [[nodiscard]] Result<Statement> prepare(Database& database) const;

 private:
  void add(std::string_view condition);

  std::string sql_;
  bool restricted_ = false;
  std::vector<std::function<void(Statement&, int)>> binders_;
};

/// What a filter's names are in the tables. Made by the reader before it builds the query.
struct DeliveryTerms {
  struct EventRange {
    std::int64_t sequence = 0;
    std::int64_t delivery_count = 0;
  };
  struct LaneStart {
    std::int64_t lane = 0;
    std::int64_t newest = 0;  // Where its chain is entered: nothing on the page is newer.
  };

  std::optional<std::int64_t> tenant;
  std::optional<LaneStart> lane;  // Several webhooks are several queries.
  std::optional<EventRange> event;
  std::vector<std::int64_t> types;
};

struct EventTerms {
  std::optional<std::int64_t> tenant;
  std::vector<std::int64_t> types;
};

/// Newest first, one row more than the page's limit.
[[nodiscard]] Select select_deliveries(const DeliveryFilter& filter, const DeliveryTerms& terms,
                                       const Page& page);
[[nodiscard]] Select select_events(const EventFilter& filter, const EventTerms& terms,
                                   const Page& page);

}  // namespace postrider::sqlite
