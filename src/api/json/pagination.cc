#include "api/json/pagination.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/request/signature.h"

#include "adapters/openssl/digest.h"

namespace postrider::api {
namespace {

constexpr char cursor_version = 1;
constexpr std::size_t head_bytes = 2;  // Version, kind.
constexpr std::size_t checksum_bytes = 6;
constexpr std::size_t cursor_length_max = 384;  // An event type's name is the longest place.
constexpr std::size_t sequence_bytes = 8;

std::string checksum(std::string_view content) {
  return sha256("postrider cursor " + std::string{content}).substr(0, checksum_bytes);
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

std::optional<std::int64_t> read_sequence(std::string_view place) {
  if (place.size() != sequence_bytes) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (const char byte : place) {
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
              "`cursor` must be a `next_cursor` of this list, unchanged; leave it out to start at "
              "the beginning.",
          .errors = {{"cursor", "must be a `next_cursor` of this list, unchanged."}}};
}

std::string write_cursor(ListKind kind, std::string_view place) {
  std::string content{cursor_version, static_cast<char>(kind)};
  content += place;
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
  const std::string_view signed_part{content->data(), content->size() - checksum_bytes};
  if (signed_part[0] != cursor_version || signed_part[1] != static_cast<char>(kind) ||
      std::string_view{*content}.substr(signed_part.size()) != checksum(signed_part)) {
    return std::nullopt;
  }
  // Base64 can spell the same bytes in more than one way; only ours is ours.
  if (to_base64url(*content) != cursor) {
    return std::nullopt;
  }
  return std::string{signed_part.substr(head_bytes)};
}

std::optional<std::string> next_cursor(ListKind kind, std::optional<std::int64_t> next) {
  if (!next) {
    return std::nullopt;
  }
  std::string place(sequence_bytes, '\0');
  for (std::size_t byte = 0; byte < sequence_bytes; ++byte) {
    const auto value = static_cast<std::uint64_t>(*next) >> (56 - 8 * byte);
    place[byte] = static_cast<char>(value & 0xff);
  }
  return write_cursor(kind, place);
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
    query.refuse("offset", "cannot be combined with `cursor`; send one of them.");
  }
  if (std::optional<Problem> fault = query.fault()) {
    return tl::make_unexpected(*std::move(fault));
  }
  if (cursor) {
    page.place = read_cursor(kind, *cursor);
  }
  if (cursor && !page.place) {
    return tl::make_unexpected(invalid_cursor());
  }
  return page;
}

Parsed<Page> read_history_page(QueryReader& query, ListKind kind) {
  const Parsed<PageQuery> asked = read_page(query, kind);
  if (!asked) {
    return tl::make_unexpected(asked.error());
  }
  Page page{.limit = asked->limit, .offset = asked->offset, .before = std::nullopt};
  const std::optional<std::string>& place = asked->place;
  if (place) {
    page.before = read_sequence(*place);
  }
  if (place && !page.before) {
    return tl::make_unexpected(invalid_cursor());
  }
  return page;
}

Parsed<IdPage> read_id_page(QueryReader& query, ListKind kind) {
  const Parsed<PageQuery> asked = read_page(query, kind);
  if (!asked) {
    return tl::make_unexpected(asked.error());
  }
  IdPage page{.limit = asked->limit, .offset = asked->offset, .before = std::nullopt};
  if (!asked->place) {
    return page;
  }
  if (asked->place->size() != sizeof(Uuid)) {
    return tl::make_unexpected(invalid_cursor());
  }
  std::ranges::copy(*asked->place, page.before.emplace().begin());
  return page;
}

}  // namespace postrider::api
