// A webhook's secret as text: what users give and see. Stored is the key of the standard schemes
// (the bytes behind `whsec_`), or the text itself for the other schemes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "core/model/webhook.h"
#include "core/request/signature.h"

namespace postrider {

constexpr std::size_t secret_bytes_generated = 32;  // Standard schemes.
constexpr std::size_t secret_bytes_min = 24;
constexpr std::size_t secret_bytes_max = 75;

constexpr std::size_t secret_text_length_default = 64;  // Other schemes, if generated.
constexpr std::size_t secret_text_length_min = 32;
constexpr std::size_t secret_text_bytes_min = 8;
constexpr std::size_t secret_text_bytes_max = 255;

/// Standard schemes: `whsec_<base64>`, or any other text, whose bytes are the key; the key must
/// have 24 to 75 bytes. Other schemes: any text of 8 to 255 bytes in UTF-8 without control
/// characters. Fails with invalid.
[[nodiscard]] Result<Secret<std::string>> parse_secret(SignatureScheme scheme,
                                                       std::string_view text);

/// The text that is shown. A receiver verifies with it: standard schemes decode the base64 after
/// `whsec_`, the other schemes use the bytes of the text.
[[nodiscard]] std::string format_secret(SignatureScheme scheme, const Secret<std::string>& secret);

/// The key of the signature. For the schemes that are not standard, the bytes of the shown text.
[[nodiscard]] Secret<std::string> signing_key(SignatureScheme scheme,
                                              const Secret<std::string>& secret);

/// The number of random bytes that generate_secret needs.
[[nodiscard]] std::size_t secret_random_bytes(SignatureScheme scheme, std::size_t text_length);
/// `random` must have that many bytes. The text of the schemes that are not standard has
/// `text_length` hexadecimal digits.
[[nodiscard]] Secret<std::string> generate_secret(SignatureScheme scheme, std::string random,
                                                  std::size_t text_length);

/// Keeps the text of the secrets when `webhook.signature.scheme` has changed from `before`. Fails
/// with invalid if the new scheme does not accept the current secret, which then stays unchanged.
/// Old secrets are always kept.
[[nodiscard]] Result<void> adapt_secrets(SignatureScheme before, Webhook& webhook);

}  // namespace postrider
