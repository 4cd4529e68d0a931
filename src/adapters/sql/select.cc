#include "adapters/sql/select.h"

#include <iterator>

#include <fmt/format.h>

namespace postrider::sql {

void Select::add(std::string_view condition) {
  sql_.append(restricted_ ? " AND " : " WHERE ");
  restricted_ = true;
  for (const char c : condition) {
    sql_.push_back(c);
    if (c == '?') {
      fmt::format_to(std::back_inserter(sql_), "{}", ++parameters_);
    }
  }
}

void Select::where_with(std::string_view condition, const std::vector<std::string>& values) {
  add(condition);
  for (const std::string& value : values) {
    binders_.push_back(
        [value](Statement& statement, int index) { statement.bind_at(index, value); });
  }
}

Result<Statement> Select::prepare(Database& database) const {
  POSTRIDER_TRY(Statement statement, database.prepare_once(sql_));
  int index = 0;
  for (const auto& bind : binders_) {
    bind(statement, ++index);
  }
  return statement;
}

}  // namespace postrider::sql
