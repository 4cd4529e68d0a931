// Pagination of lists: `limit` with either `cursor` or `offset`.
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
constexpr std::uint32_t page_offset_max = 1'000'000;  // Larger offsets are slow; use a cursor.

/// The list that a cursor belongs to. A cursor of another list is refused.
enum class ListKind : char {
  alerts = 'l',
  api_keys = 'k',
  attempts = 'm',
  audit = 'a',
  channels = 'c',
  deliveries = 'd',
  event_types = 'y',
  events = 'e',
  notifications = 'n',
  open_periods = 'p',
  operations = 'o',
  stats = 's',
  tenants = 't',
  webhooks = 'w'
};

/// A cursor encodes a position in a list. It is opaque and has a checksum, so that a changed cursor
/// is refused instead of returning the wrong page. It needs no further protection, because it gives
/// no access to anything that the caller cannot list.
[[nodiscard]] std::string write_cursor(ListKind kind, std::string_view position);
[[nodiscard]] std::optional<std::string> read_cursor(ListKind kind, std::string_view cursor);

[[nodiscard]] Problem invalid_cursor();

/// The cursor of the next page, or nullopt at the end of the list. `next` is the position where
/// that page starts: a sequence number, an id, or a text that the list defines.
[[nodiscard]] std::optional<std::string> next_cursor(ListKind kind,
                                                     std::optional<std::int64_t> next);
[[nodiscard]] std::optional<std::string> next_cursor(ListKind kind,
                                                     const std::optional<Uuid>& next);
[[nodiscard]] std::optional<std::string> next_cursor(ListKind kind,
                                                     const std::optional<std::string>& next);

struct PageQuery {
  std::uint32_t limit = page_limit_default;
  std::uint32_t offset = 0;
  std::optional<std::string> position;  // The decoded cursor.
};

/// Reads `limit`, `cursor` and `offset`. Call after all other parameters have been read: it returns
/// the first error of the whole query, and checks the cursor last.
[[nodiscard]] Parsed<PageQuery> read_page(QueryReader& query, ListKind kind);

/// Like read_page(), for a list ordered by sequence number.
[[nodiscard]] Parsed<Page> read_history_page(QueryReader& query, ListKind kind);

/// A page of a list ordered by id, newest first.
struct IdPage {
  std::uint32_t limit = page_limit_default;
  std::uint32_t offset = 0;
  std::optional<Uuid> before;  // Only ids less than this.
};
/// Like read_page(), for a list ordered by id.
[[nodiscard]] Parsed<IdPage> read_id_page(QueryReader& query, ListKind kind);

template <class Item>
struct ListedById {
  std::vector<Item> items;
  std::optional<Uuid> next;  // IdPage::before of the next page; nullopt at the end.
};

}  // namespace postrider::api
