// Adds a row or replaces the one with the same key.
#pragma once

#include <string>
#include <string_view>

namespace postrider::sql {

struct UpsertColumns {
  std::string_view all;  // Names separated by commas, in the order of the parameters.
  std::string_view key;  // The columns of a unique key. A proper part of `all`.
};

/// An INSERT with the parameters ?1, ?2, … that updates all other columns if the key exists.
[[nodiscard]] std::string upsert_sql(std::string_view table, const UpsertColumns& columns);

}  // namespace postrider::sql
