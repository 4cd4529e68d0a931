// Helpers for the lists of deliveries and events: looking up numbers, reading rows, building pages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/filter/event_type_filter.h"
#include "core/model/event.h"
#include "ports/history.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/history/history_query.h"

namespace postrider::sqlite {

/// Reads the first column of every row.
template <class... Keys>
[[nodiscard]] Result<std::vector<std::int64_t>> read_numbers(Database& database,
                                                             std::string_view sql,
                                                             const Keys&... keys) {
  POSTRIDER_TRY(Statement statement, database.prepare(sql));
  std::vector<std::int64_t> numbers;
  Query query = statement.query(keys...);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return numbers;
    }
    numbers.push_back(query.integer(0));
  }
}

/// The numbers of the keys that have one, sorted, without duplicates.
template <class Key>
[[nodiscard]] Result<std::vector<std::int64_t>> numbers_of(Database& database, std::string_view sql,
                                                           const std::vector<Key>& keys) {
  std::vector<std::int64_t> numbers;
  for (const Key& key : keys) {
    POSTRIDER_TRY(const std::vector<std::int64_t> found, read_numbers(database, sql, key));
    numbers.insert(numbers.end(), found.begin(), found.end());
  }
  std::ranges::sort(numbers);
  const auto repeats = std::ranges::unique(numbers);
  numbers.erase(repeats.begin(), repeats.end());
  return numbers;
}

[[nodiscard]] inline Result<TypeTerms> find_types(Database& database,
                                                  const std::vector<std::string>& words) {
  EventTypeFilter filter = sort_event_type_words(words);
  TypeTerms terms{
      .everything = filter.everything, .numbers = {}, .prefixes = std::move(filter.prefixes)};
  POSTRIDER_TRY(terms.numbers,
                numbers_of(database, "SELECT type FROM event_type WHERE name = ?1", filter.names));
  return terms;
}

[[nodiscard]] inline Result<std::optional<std::int64_t>> tenant_number(Database& database,
                                                                       const TenantId& tenant_id) {
  POSTRIDER_TRY(const std::vector<std::int64_t> found,
                read_numbers(database, "SELECT tenant FROM tenant WHERE name = ?1", tenant_id));
  return found.empty() ? std::nullopt : std::optional{found.front()};
}

template <class Item>
struct Row {
  std::int64_t sequence = 0;
  Item item;
};

/// `read` returns an `Item` or a `Result` of one.
template <class Item, class Read>
[[nodiscard]] Result<std::vector<Row<Item>>> read_rows(Database& database, const Select& select,
                                                       Read read) {
  POSTRIDER_TRY(Statement statement, select.prepare(database));
  std::vector<Row<Item>> rows;
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return rows;
    }
    POSTRIDER_TRY(Item item, Result<Item>{read(query)});
    rows.push_back({query.integer(0), std::move(item)});
  }
}

/// `rows` has one row more than the page if there are more. `floor` is set if the scan stopped at
/// it.
template <class Item>
[[nodiscard]] Listed<Item> to_page(std::vector<Row<Item>> rows, const Page& page,
                                   std::optional<std::int64_t> floor) {
  Listed<Item> listed;
  if (rows.size() > page.limit) {
    rows.resize(page.limit);
    listed.next = rows.back().sequence;
  } else {
    listed.next = floor;
  }
  for (Row<Item>& row : rows) {
    listed.items.push_back(std::move(row.item));
  }
  return listed;
}

}  // namespace postrider::sqlite
