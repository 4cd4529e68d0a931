// A statement that is built at run time, with its parameters.
//
// The lists join conditions to a text and let PostgreSQL plan it with the values of the parameters.
// Numbers and enumerations are part of the text, because a partial index is used only if a query
// repeats its condition.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/result.h"
#include "core/base/time.h"

#include "adapters/postgres/store/database/parameters.h"
#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

struct BuiltQuery {
  std::string sql;
  Parameters parameters;
};

/// Collects the parameters of a text that is being built.
class ParameterList {
 public:
  /// Returns the placeholder of the value: `$3`.
  template <class Value>
  [[nodiscard]] std::string bind(const Value& value) {
    parameters_.add(value);
    return fmt::format("${}", parameters_.values().size());
  }

  [[nodiscard]] BuiltQuery build(std::string sql) && {
    return {.sql = std::move(sql), .parameters = std::move(parameters_)};
  }

 private:
  Parameters parameters_;
};

/// Conditions joined by AND.
class Conditions {
 public:
  void add(std::string condition) { conditions_.push_back(std::move(condition)); }

  [[nodiscard]] bool empty() const { return conditions_.empty(); }
  /// ` WHERE …`, or nothing.
  [[nodiscard]] std::string where() const {
    return conditions_.empty() ? std::string{}
                               : fmt::format(" WHERE {}", fmt::join(conditions_, " AND "));
  }

 private:
  std::vector<std::string> conditions_;
};

/// The numbers of enumerations, separated by commas.
template <class Enum>
[[nodiscard]] std::string number_list(const std::vector<Enum>& values) {
  std::vector<int> numbers;
  numbers.reserve(values.size());
  for (const Enum value : values) {
    numbers.push_back(static_cast<int>(value));
  }
  return fmt::format("{}", fmt::join(numbers, ", "));
}

template <class SomeId>
[[nodiscard]] Array id_array(const std::vector<SomeId>& ids) {
  Array array{ElementType::uuid};
  for (const SomeId& id : ids) {
    array.add(id);
  }
  return array;
}

inline void add_between(Conditions& conditions, std::string_view column,
                        std::optional<WallTime> from, std::optional<WallTime> to) {
  if (from) {
    conditions.add(fmt::format("{} >= {}", column, to_unix_ms(*from)));
  }
  if (to) {
    conditions.add(fmt::format("{} < {}", column, to_unix_ms(*to)));
  }
}

/// Returns the index of its answer in the next exchange.
inline std::size_t queue(Session& session, BuiltQuery query) {
  return session.queue_once(std::move(query.sql), std::move(query.parameters));
}
[[nodiscard]] inline Result<Rows> run(Session& session, BuiltQuery query) {
  return session.run_once(std::move(query.sql), std::move(query.parameters));
}

}  // namespace postrider::postgres
