#include "adapters/sql/upsert.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace postrider::sql {
namespace {

std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t begin = std::min(list.find_first_not_of(' '), list.size());
    const std::size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

}  // namespace

std::string upsert_sql(std::string_view table, const UpsertColumns& columns) {
  const std::vector<std::string_view> key = names_in(columns.key);
  std::string parameters;
  std::string changes;
  int index = 0;
  for (const std::string_view name : names_in(columns.all)) {
    parameters += fmt::format("{}?{}", index == 0 ? "" : ", ", index + 1);
    ++index;
    if (std::ranges::find(key, name) == key.end()) {
      changes += fmt::format("{}{} = excluded.{}", changes.empty() ? "" : ", ", name, name);
    }
  }
  return fmt::format("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}", table,
                     columns.all, parameters, columns.key, changes);
}

}  // namespace postrider::sql
