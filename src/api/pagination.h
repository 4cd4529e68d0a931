// Pages of a list: `limit` with either `cursor` or `offset`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/ids.h"
#include "ports/history.h"

#include "api/context.h"
#include "api/json_writer.h"
#include "api/query_reader.h"

namespace postrider::api {

constexpr std::uint32_t page_limit_default = 50;
constexpr std::uint32_t page_limit_max = 250;
constexpr std::uint32_t page_offset_max = 1'000'000;  // Beyond that a cursor is the only sane way.

/// Which list a cursor belongs to: one of another list is refused.
enum class ListKind : char {
  alerts = 'l',
  api_keys = 'k',
  audit_log = 'a',
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

[[nodiscard]] std::string write_sequence_cursor(ListKind kind, std::int64_t sequence);

/// The member `next_cursor`, null at the end of the list.
void write_next_cursor(JsonWriter& writer, ListKind kind, std::optional<std::int64_t> next);

/// What a list asks for. `place` is the cursor's content.
struct PageQuery {
  std::uint32_t limit = page_limit_default;
  std::uint32_t offset = 0;
  std::optional<std::string> place;
};

/// Reads `limit`, `cursor` and `offset`; mistakes go to the reader, a bad cursor is
/// `invalid_cursor`.
[[nodiscard]] Parsed<PageQuery> read_page(QueryReader& query, ListKind kind);

/// The same as the port wants it.
[[nodiscard]] Parsed<Page> read_history_page(QueryReader& query, ListKind kind);

}  // namespace postrider::api
