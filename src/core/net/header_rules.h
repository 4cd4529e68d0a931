// Which custom headers a webhook's owner may add to the requests.
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

/// Returns nullopt if the headers are allowed, otherwise a sentence naming the header and the
/// broken rule. Rejects hop-by-hop, framing, host and signature headers, all other headers that the
/// server sets itself, duplicates, too many headers and too many bytes. Also checks the policy's
/// header prefix.
[[nodiscard]] std::optional<std::string> forbidden_headers(const Headers& headers,
                                                           const SignaturePolicy& signature);

/// Shown in place of a hidden value. A client that sends it back keeps the stored value.
constexpr std::string_view hidden_value = "[hidden]";

/// True if the name suggests a credential. The values of such headers are never displayed (P11).
[[nodiscard]] bool is_sensitive_header(std::string_view name);

/// Compares header names, ignoring case.
[[nodiscard]] bool same_header(std::string_view a, std::string_view b);

}  // namespace postrider
