#include "adapters/json_schema/json_pointer.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "core/base/parse_number.h"

namespace postrider::json_schema {
namespace {

/// Replaces `%XX`. Returns nullopt if two hexadecimal digits are missing.
std::optional<std::string> decode_percent(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    std::uint8_t byte = 0;
    const std::string_view digits = text.substr(at + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc{} || end != digits.data() + digits.size()) {
      return std::nullopt;
    }
    decoded += static_cast<char>(byte);
    at += 2;
  }
  return decoded;
}

/// Replaces `~1` and `~0`.
std::string decode_tildes(std::string_view step) {
  std::string decoded;
  for (std::size_t at = 0; at < step.size(); ++at) {
    const bool is_escape =
        step[at] == '~' && at + 1 < step.size() && (step[at + 1] == '0' || step[at + 1] == '1');
    decoded += !is_escape ? step[at] : step[at + 1] == '0' ? '~' : '/';
    at += is_escape ? 1 : 0;
  }
  return decoded;
}

const JsonNode* child_of(const JsonNode& parent, std::string_view step) {
  if (parent.kind != JsonKind::array) {
    return find_member(parent, decode_tildes(step));
  }
  const auto index = parse_number<std::uint32_t>(step);
  const bool is_padded = step.size() > 1 && step.starts_with('0');
  if (!index || is_padded || *index >= parent.count) {
    return nullptr;
  }
  JsonChildren::Iterator element = JsonChildren{parent}.begin();
  for (std::uint32_t at = 0; at < *index; ++at) {
    ++element;
  }
  return &*element;
}

}  // namespace

const JsonNode* follow_pointer(const JsonNode& root, std::string_view pointer) {
  const std::optional<std::string> decoded = decode_percent(pointer);
  const JsonNode* here = decoded ? &root : nullptr;
  std::string_view rest = decoded ? std::string_view{*decoded} : std::string_view{};
  while (here != nullptr && !rest.empty()) {
    if (rest.front() != '/') {
      return nullptr;
    }
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    here = child_of(*here, rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return here;
}

}  // namespace postrider::json_schema
