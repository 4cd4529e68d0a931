// Pages of a list: `limit` with either `cursor` or `offset`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "ports/history.h"

#include "api/json/query_reader.h"
#include "api/resources/context.h"

namespace postrider::api {

constexpr std::uint32_t page_limit_default = 50;
constexpr std::uint32_t page_limit_max = 250;
constexpr std::uint32_t page_offset_max = 1'000'000;  // Beyond that a cursor is the only sane way.

/// Which list a cursor belongs to: one of another list is refused.
enum class ListKind : char {
  alerts = 'l',
  api_keys = 'k',
  audit = 'a',
  deliveries = 'd',
  event_types = 'y',
  events = 'e',
  operations = 'o',
  stats = 's',
  tenants = 't',
  webhooks = 'w'
};

/// Opaque and checked: a changed or made-up cursor is refused, so that it never silently shows the
/// wrong page. It protects no secret: it names a place in a list that the caller may read anyway.
[[nodiscard]] std::string write_cursor(ListKind kind, std::string_view place);
[[nodiscard]] std::optional<std::string> read_cursor(ListKind kind, std::string_view cursor);

[[nodiscard]] Problem invalid_cursor();

/// The cursor to the page that follows; nullopt at the end of the list. `next` is where that page
/// begins: a sequence, an id, or a place of the list's own.
[[nodiscard]] std::optional<std::string> next_cursor(ListKind kind,
                                                     std::optional<std::int64_t> next);
[[nodiscard]] std::optional<std::string> next_cursor(ListKind kind,
                                                     const std::optional<Uuid>& next);
[[nodiscard]] std::optional<std::string> next_cursor(ListKind kind,
                                                     const std::optional<std::string>& next);

/// What a list asks for. `place` is the cursor's content.
struct PageQuery {
  std::uint32_t limit = page_limit_default;
  std::uint32_t offset = 0;
  std::optional<std::string> place;
};

/// Reads `limit`, `cursor` and `offset`. To be read last: the first mistake in the whole query is
/// the problem, after it a bad cursor.
[[nodiscard]] Parsed<PageQuery> read_page(QueryReader& query, ListKind kind);

/// The same of a list by sequence, as the port wants it.
[[nodiscard]] Parsed<Page> read_history_page(QueryReader& query, ListKind kind);

/// The same of a list by id, newest first.
struct IdPage {
  std::uint32_t limit = page_limit_default;
  std::uint32_t offset = 0;
  std::optional<Uuid> before;  // Ids below this.
};
[[nodiscard]] Parsed<IdPage> read_id_page(QueryReader& query, ListKind kind);

template <class Item>
struct ListedById {
  std::vector<Item> items;
  std::optional<Uuid> next;  // IdPage::before for the following page; nullopt at the end.
};

}  // namespace postrider::api
