#include "api/json/pagination.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/random.h"
#include "core/request/signature.h"

namespace postrider::api {
namespace {

constexpr char cursor_version = 2;
constexpr std::size_t head_bytes = 2;  // Version, kind.
constexpr std::size_t checksum_bytes = 6;
constexpr std::size_t cursor_length_max = 384;  // The longest position is an event type's name.
constexpr std::size_t sequence_bytes = 8;

/// FNV-1a, mixed so that every bit of it depends on every byte. Detects changes; needs no secrecy.
std::string checksum(std::string_view content) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char byte : content) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ull;
  }
  hash = splitmix64(hash);
  std::string bytes(checksum_bytes, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(hash & 0xff);
    hash >>= 8;
  }
  return bytes;
}

std::string to_base64url(std::string_view bytes) {
  std::string text = to_base64(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  if (text.find_first_of("+/=") != std::string_view::npos) {
    return std::nullopt;
  }
  std::string padded{text};
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  return from_base64(padded);
}

std::optional<std::int64_t> read_sequence(std::string_view position) {
  if (position.size() != sequence_bytes) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (const char byte : position) {
    value = (value << 8) | static_cast<unsigned char>(byte);
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace

Problem invalid_cursor() {
  return {.status = 400,
          .code = "invalid_cursor",
          .title = "The cursor is not valid",
          .detail =
              "`cursor` must be a `next_cursor` that this list returned. Omit it to start at the "
              "beginning.",
          .errors = {{"cursor", "must be a `next_cursor` that this list returned."}}};
}

std::string write_cursor(ListKind kind, std::string_view position) {
  std::string content{cursor_version, static_cast<char>(kind)};
  content += position;
  content += checksum(content);
  POSTRIDER_ASSERT(content.size() * 4 <= cursor_length_max * 3);
  return to_base64url(content);
}

std::optional<std::string> read_cursor(ListKind kind, std::string_view cursor) {
  if (cursor.size() > cursor_length_max) {
    return std::nullopt;
  }
  const std::optional<std::string> content = from_base64url(cursor);
  if (!content || content->size() < head_bytes + checksum_bytes) {
    return std::nullopt;
  }
  const std::string_view checked_part{content->data(), content->size() - checksum_bytes};
  if (checked_part[0] != cursor_version || checked_part[1] != static_cast<char>(kind) ||
      std::string_view{*content}.substr(checked_part.size()) != checksum(checked_part)) {
    return std::nullopt;
  }
  // Several base64 texts decode to the same bytes. Only the canonical one is accepted.
  if (to_base64url(*content) != cursor) {
    return std::nullopt;
  }
  return std::string{checked_part.substr(head_bytes)};
}

std::optional<std::string> next_cursor(ListKind kind, std::optional<std::int64_t> next) {
  if (!next) {
    return std::nullopt;
  }
  std::string position(sequence_bytes, '\0');
  for (std::size_t byte = 0; byte < sequence_bytes; ++byte) {
    const auto value = static_cast<std::uint64_t>(*next) >> (56 - 8 * byte);
    position[byte] = static_cast<char>(value & 0xff);
  }
  return write_cursor(kind, position);
}

std::optional<std::string> next_cursor(ListKind kind, const std::optional<Uuid>& next) {
  return next ? std::optional{write_cursor(kind, std::string{next->begin(), next->end()})}
              : std::nullopt;
}

std::optional<std::string> next_cursor(ListKind kind, const std::optional<std::string>& next) {
  return next ? std::optional{write_cursor(kind, *next)} : std::nullopt;
}

Parsed<PageQuery> read_page(QueryReader& query, ListKind kind) {
  PageQuery page;
  if (const auto limit = query.integer("limit", {1, page_limit_max})) {
    page.limit = static_cast<std::uint32_t>(*limit);
  }
  const std::optional<std::int64_t> offset = query.integer("offset", {0, page_offset_max});
  if (offset) {
    page.offset = static_cast<std::uint32_t>(*offset);
  }
  const std::optional<std::string> cursor = query.text("cursor");
  if (cursor && offset) {
    query.refuse("offset", "cannot be combined with `cursor`. Send only one of them.");
  }
  POSTRIDER_CHECK(query.finish());
  if (cursor) {
    page.position = read_cursor(kind, *cursor);
  }
  if (cursor && !page.position) {
    return tl::make_unexpected(invalid_cursor());
  }
  return page;
}

Parsed<Page> read_history_page(QueryReader& query, ListKind kind) {
  POSTRIDER_TRY(const PageQuery parameters, read_page(query, kind));
  Page page{.limit = parameters.limit, .offset = parameters.offset, .before = std::nullopt};
  const std::optional<std::string>& position = parameters.position;
  if (position) {
    page.before = read_sequence(*position);
  }
  if (position && !page.before) {
    return tl::make_unexpected(invalid_cursor());
  }
  return page;
}

Parsed<IdPage> read_id_page(QueryReader& query, ListKind kind) {
  POSTRIDER_TRY(const PageQuery parameters, read_page(query, kind));
  IdPage page{.limit = parameters.limit, .offset = parameters.offset, .before = std::nullopt};
  if (!parameters.position) {
    return page;
  }
  if (parameters.position->size() != sizeof(Uuid)) {
    return tl::make_unexpected(invalid_cursor());
  }
  std::ranges::copy(*parameters.position, page.before.emplace().begin());
  return page;
}

}  // namespace postrider::api
