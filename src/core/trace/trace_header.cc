#include "core/trace/trace_header.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "core/base/trim.h"

namespace postrider {
namespace {

// version "-" trace-id "-" parent-id "-" trace-flags
constexpr std::size_t traceparent_bytes = 55;
constexpr std::size_t trace_id_at = 3;
constexpr std::size_t parent_at = 36;
constexpr std::size_t flags_at = 53;

constexpr std::size_t long_entry_bytes = 128;
constexpr std::size_t key_bytes_max = 256;
constexpr std::size_t tenant_bytes_max = 241;
constexpr std::size_t system_bytes_max = 14;
constexpr std::size_t value_bytes_max = 256;

std::optional<std::uint8_t> digit(char character) {
  if (character >= '0' && character <= '9') {
    return static_cast<std::uint8_t>(character - '0');
  }
  if (character >= 'a' && character <= 'f') {
    return static_cast<std::uint8_t>(character - 'a' + 10);
  }
  return std::nullopt;
}

/// False if `text` has other characters than lower-case hexadecimal digits.
bool parse_hex(std::string_view text, std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::optional<std::uint8_t> high = digit(text[2 * i]);
    const std::optional<std::uint8_t> low = digit(text[2 * i + 1]);
    if (!high || !low) {
      return false;
    }
    bytes[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return true;
}

bool is_zero(std::span<const std::uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

/// A later version may add fields behind those of version 00.
bool has_length_of(std::uint8_t version, std::string_view text) {
  return text.size() == traceparent_bytes ||
         (version > 0 && text.size() > traceparent_bytes && text[traceparent_bytes] == '-');
}

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  constexpr std::uint8_t forbidden_version = 0xff;
  constexpr std::array<std::size_t, 3> dashes = {trace_id_at - 1, parent_at - 1, flags_at - 1};
  if (text.size() < traceparent_bytes ||
      std::ranges::any_of(dashes, [&](std::size_t at) { return text[at] != '-'; })) {
    return std::nullopt;
  }
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  TraceContext trace;
  if (!parse_hex(text, version) || version[0] == forbidden_version ||
      !has_length_of(version[0], text) ||
      !parse_hex(text.substr(trace_id_at), trace.trace_id.bytes) ||
      !parse_hex(text.substr(parent_at), trace.parent.bytes) ||
      !parse_hex(text.substr(flags_at), flags) || is_zero(trace.trace_id.bytes) ||
      is_zero(trace.parent.bytes)) {
    return std::nullopt;
  }
  trace.flags = static_cast<std::uint8_t>(flags[0] & (trace_flag_sampled | trace_flag_random));
  return trace;
}

bool is_lower(char character) { return character >= 'a' && character <= 'z'; }

bool is_digit(char character) { return character >= '0' && character <= '9'; }

bool is_key_character(char character) {
  return is_lower(character) || is_digit(character) ||
         std::string_view{"_-*/"}.find(character) != std::string_view::npos;
}

bool is_key_part(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && std::ranges::all_of(text, is_key_character);
}

/// `name`, or `tenant@system`.
bool is_key(std::string_view key) {
  const std::size_t at = key.find('@');
  if (at == std::string_view::npos) {
    return is_key_part(key, key_bytes_max) && is_lower(key.front());
  }
  const std::string_view tenant = key.substr(0, at);
  const std::string_view system = key.substr(at + 1);
  return is_key_part(tenant, tenant_bytes_max) &&
         (is_lower(tenant.front()) || is_digit(tenant.front())) &&
         is_key_part(system, system_bytes_max) && is_lower(system.front());
}

bool is_value(std::string_view value) {
  const auto is_allowed = [](char character) {
    return character >= ' ' && character <= '~' && character != ',' && character != '=';
  };
  return !value.empty() && value.size() <= value_bytes_max && value.back() != ' ' &&
         std::ranges::all_of(value, is_allowed);
}

std::string_view key_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

bool is_entry(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  return equals != std::string_view::npos && is_key(entry.substr(0, equals)) &&
         is_value(entry.substr(equals + 1));
}

/// Returns nothing if one entry is not valid. Empty entries are allowed and left out.
std::vector<std::string_view> parse_entries(std::string_view text) {
  std::vector<std::string_view> entries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view entry = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (entry.empty()) {
      continue;
    }
    const auto has_its_key = [&](std::string_view other) { return key_of(other) == key_of(entry); };
    if (!is_entry(entry) || entries.size() == tracestate_entries_max ||
        std::ranges::any_of(entries, has_its_key)) {
      return {};
    }
    entries.push_back(entry);
  }
  return entries;
}

std::size_t joined_bytes(const std::vector<std::string_view>& entries) {
  std::size_t bytes = 0;
  for (const std::string_view entry : entries) {
    bytes += entry.size() + (bytes == 0 ? 0 : 1);
  }
  return bytes;
}

std::string read_tracestate(std::string_view text) {
  // No valid list is longer. Bounds the work for a header of any length.
  constexpr std::size_t bytes_max = std::size_t{32} << 10;
  if (text.size() > bytes_max) {
    return {};
  }
  std::vector<std::string_view> entries = parse_entries(text);
  if (joined_bytes(entries) > tracestate_bytes_max) {
    std::erase_if(entries, [](std::string_view entry) { return entry.size() > long_entry_bytes; });
  }
  while (joined_bytes(entries) > tracestate_bytes_max) {
    entries.pop_back();
  }
  return fmt::format("{}", fmt::join(entries, ","));
}

}  // namespace

std::optional<TraceContext> parse_trace(std::string_view traceparent, std::string_view tracestate) {
  std::optional<TraceContext> trace = parse_traceparent(traceparent);
  if (trace && !tracestate.empty()) {
    trace->state = read_tracestate(tracestate);
  }
  return trace;
}

std::string write_traceparent(const TraceContext& trace, const SpanId& span) {
  return fmt::format("00-{}-{}-{:02x}", to_string(trace.trace_id), to_string(span), trace.flags);
}

}  // namespace postrider
