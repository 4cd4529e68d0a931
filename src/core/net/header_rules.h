// Which headers a webhook's owner may add to our requests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/attempt.h"
#include "core/request/signature.h"

namespace postrider {

constexpr std::size_t custom_headers_max = 32;
constexpr std::size_t custom_headers_bytes_max = 8192;
constexpr std::size_t header_prefix_bytes_max = 64;

/// RFC 9110 token.
[[nodiscard]] bool is_header_name(std::string_view text);
/// Visible ASCII, space and tab; no CR, LF or NUL.
[[nodiscard]] bool is_header_value(std::string_view text);

/// nullopt: fine. Otherwise a sentence naming the header and the rule it breaks. Refused are
/// hop-by-hop, framing, host and signature headers, all others that we set ourselves, duplicates,
/// and sets that are too many or too large. The policy's header prefix is checked as well.
[[nodiscard]] std::optional<std::string> forbidden_headers(const Headers& headers,
                                                           const SignaturePolicy& signature);

/// What stands in for a value that is not shown. Sent back unchanged, it keeps the value.
constexpr std::string_view hidden_value = "[hidden]";

/// Headers whose name sounds like a credential are not shown once they are set (P11).
[[nodiscard]] bool is_sensitive_header(std::string_view name);

/// Header names compare without case.
[[nodiscard]] bool same_header(std::string_view a, std::string_view b);

}  // namespace postrider
