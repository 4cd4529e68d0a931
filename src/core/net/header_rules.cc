#include "core/net/header_rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace postrider {
namespace {

// Hop-by-hop and framing headers would let a value change how the message is parsed. The server
// sets the others itself.
constexpr std::array<std::string_view, 17> reserved_names = {"accept-encoding",
                                                             "connection",
                                                             "content-encoding",
                                                             "content-length",
                                                             "content-type",
                                                             "date",
                                                             "expect",
                                                             "host",
                                                             "http2-settings",
                                                             "keep-alive",
                                                             "te",
                                                             "trailer",
                                                             "transfer-encoding",
                                                             "upgrade",
                                                             "user-agent",
                                                             "via",
                                                             "x-idempotency-key"};

constexpr std::array<std::string_view, 2> reserved_prefixes = {"proxy-", "webhook-"};

// The names that any header set uses after the configured prefix.
constexpr std::array<std::string_view, 9> prefixed_names = {
    "ID",      "Event",     "Event-ID",  "Delivery",      "Delivery-ID",
    "Attempt", "Timestamp", "Signature", "Signature-Next"};

constexpr std::size_t header_overhead_bytes = 4;  // Colon, space, CR, LF.

// Messages show at most this much of a name.
constexpr std::size_t name_shown_bytes_max = 64;

constexpr char to_lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character | 0x20) : character;
}

constexpr bool is_token_character(char character) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  const char lower = to_lower(character);
  return (lower >= 'a' && lower <= 'z') || (character >= '0' && character <= '9') ||
         marks.find(character) != std::string_view::npos;
}

bool starts_with_header(std::string_view name, std::string_view prefix) {
  return name.size() >= prefix.size() && same_header(name.substr(0, prefix.size()), prefix);
}

bool is_reserved(std::string_view name) {
  const auto is_name = [name](std::string_view other) { return same_header(name, other); };
  const auto is_prefix = [name](std::string_view prefix) {
    return starts_with_header(name, prefix);
  };
  return std::ranges::any_of(reserved_names, is_name) ||
         std::ranges::any_of(reserved_prefixes, is_prefix);
}

bool is_prefixed_name(std::string_view name, std::string_view prefix) {
  if (!starts_with_header(name, prefix)) {
    return false;
  }
  const std::string_view rest = name.substr(prefix.size());
  return std::ranges::any_of(prefixed_names,
                             [rest](std::string_view own) { return same_header(rest, own); });
}

std::optional<std::string> forbidden_prefix(std::string_view prefix) {
  if (!is_header_name(prefix) || prefix.size() > header_prefix_bytes_max) {
    return fmt::format("The header prefix must be 1 to {} characters that header names allow.",
                       header_prefix_bytes_max);
  }
  for (const std::string_view own : prefixed_names) {
    const std::string name = fmt::format("{}{}", prefix, own);
    if (is_reserved(name)) {
      return fmt::format("The header prefix {} is not allowed: {} is a reserved header.", prefix,
                         name);
    }
  }
  return std::nullopt;
}

std::optional<std::string> forbidden_header(const std::pair<std::string, std::string>& header,
                                            const SignaturePolicy& signature) {
  const auto& [name, value] = header;
  if (!is_header_name(name)) {
    return name.empty() ? "A header has no name."
                        : "A header name may contain only letters, digits and !#$%&'*+-.^_`|~.";
  }
  const std::string shown = name.substr(0, name_shown_bytes_max);
  if (!is_header_value(value)) {
    return fmt::format(
        "The value of the header {} may contain only visible ASCII, spaces and tabs.", shown);
  }
  if (is_reserved(name) || is_prefixed_name(name, signature.header_prefix)) {
    return fmt::format("The header {} is reserved and cannot be set.", shown);
  }
  return std::nullopt;
}

std::optional<std::string> find_duplicate(const Headers& headers) {
  for (auto header = headers.begin(); header != headers.end(); ++header) {
    const auto is_same = [header](const auto& other) {
      return same_header(header->first, other.first);
    };
    if (std::any_of(headers.begin(), header, is_same)) {
      return header->first.substr(0, name_shown_bytes_max);
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_header_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_character);
}

bool is_header_value(std::string_view text) {
  return std::ranges::all_of(text, [](char character) {
    return (character >= ' ' && character <= '~') || character == '\t';
  });
}

bool same_header(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

std::optional<std::string> forbidden_headers(const Headers& headers,
                                             const SignaturePolicy& signature) {
  if (std::optional<std::string> reason = forbidden_prefix(signature.header_prefix)) {
    return reason;
  }
  if (headers.size() > custom_headers_max) {
    return fmt::format("There are {} headers; at most {} are allowed.", headers.size(),
                       custom_headers_max);
  }
  std::size_t bytes = 0;
  for (const auto& header : headers) {
    if (std::optional<std::string> reason = forbidden_header(header, signature)) {
      return reason;
    }
    bytes += header.first.size() + header.second.size() + header_overhead_bytes;
  }
  if (bytes > custom_headers_bytes_max) {
    return fmt::format("The headers take {} bytes; at most {} are allowed.", bytes,
                       custom_headers_bytes_max);
  }
  if (const std::optional<std::string> name = find_duplicate(headers)) {
    return fmt::format("The header {} is given twice.", *name);
  }
  return std::nullopt;
}

bool is_sensitive_header(std::string_view name) {
  constexpr std::array<std::string_view, 8> marks = {"auth", "cookie",   "token",      "secret",
                                                     "key",  "password", "credential", "signature"};
  std::string lower{name};
  std::ranges::transform(lower, lower.begin(), to_lower);
  return std::ranges::any_of(
      marks, [&](std::string_view mark) { return lower.find(mark) != std::string::npos; });
}

}  // namespace postrider
