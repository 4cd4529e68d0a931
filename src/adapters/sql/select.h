// Builds a SELECT from filters.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

#include "adapters/sql/database.h"

namespace postrider::sql {

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

  /// `column` is one of `values`. Does nothing if `values` is empty.
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

  /// `condition` has no `?`.
  void where(std::string_view condition) { add(condition); }

  /// `condition` has a `?` for each of `values`.
  void where_with(std::string_view condition, const std::vector<std::string>& values);

  void append(std::string_view text) { sql_.append(text); }

  [[nodiscard]] const std::string& sql() const { return sql_; }
  [[nodiscard]] Result<Statement> prepare(Database& database) const;

 private:
  /// Writes ?1, ?2, … for each `?`.
  void add(std::string_view condition);

  std::string sql_;
  int parameters_ = 0;
  bool restricted_ = false;
  std::vector<std::function<void(Statement&, int)>> binders_;
};

}  // namespace postrider::sql
