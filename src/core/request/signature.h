// What is signed, and how the signature is spelled. The keyed hash itself is an argument: core
// knows no crypto library.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "core/base/time.h"

namespace postrider {

enum class SignatureScheme : std::uint8_t {
  standard,
  standard_ed25519,
  t_v1,
  sha256_timestamp,
  sha256_body
};

/// `standard`, `standard-ed25519`, `t-v1`, `sha256-timestamp`, `sha256-body`.
[[nodiscard]] std::string_view to_string(SignatureScheme scheme);
[[nodiscard]] std::optional<SignatureScheme> parse_signature_scheme(std::string_view text);

/// Which headers follow the prefix. `platform`: ID (of the webhook), Event, Delivery, Attempt,
/// Timestamp (a date) and X-Idempotency-Key. `exchange`: Id (of the event), Timestamp (Unix
/// seconds), Attempt. `outbox`: Id (of the event), Timestamp (Unix seconds). `workspace`: Event-ID.
/// `tenant`: Event, Delivery-ID.
enum class HeaderSet : std::uint8_t { platform, exchange, outbox, workspace, tenant };

[[nodiscard]] std::string_view to_string(HeaderSet set);
[[nodiscard]] std::optional<HeaderSet> parse_header_set(std::string_view text);

struct SignaturePolicy {
  SignatureScheme scheme = SignatureScheme::standard;
  std::string header_prefix = "X-Webhook-";  // Of the second header set and of X-…-Signature.
  bool standard_headers = true;              // webhook-id, webhook-timestamp, webhook-signature.
  bool prefixed_headers = true;              // X-Webhook-… as `header_set` says.
  HeaderSet header_set = HeaderSet::platform;

  bool operator==(const SignaturePolicy&) const = default;
};

/// The text a scheme signs, in pieces to be hashed one after the other, so that a body is not
/// copied.
struct SignedText {
  std::string prefix;  // `id.timestamp.` or `timestamp.` or nothing.
  std::string_view body;
};

struct SignedParts {
  std::string_view id;  // The webhook-id header: the event's id.
  std::int64_t unix_seconds = 0;
  std::string_view body;
};

[[nodiscard]] SignedText signed_text(SignatureScheme scheme, const SignedParts& parts);

/// Do the `webhook-id`, `webhook-timestamp` and `webhook-signature` headers carry this scheme?
[[nodiscard]] constexpr bool is_standard(SignatureScheme scheme) {
  return scheme == SignatureScheme::standard || scheme == SignatureScheme::standard_ed25519;
}

/// The header's value from one raw signature per secret, newest first. `signatures` is not empty.
/// While a secret rotates, standard and t-v1 list all of them; the sha256 schemes have room for the
/// newest only.
[[nodiscard]] std::string signature_value(SignatureScheme scheme, std::int64_t unix_seconds,
                                          std::span<const std::string> signatures);

/// `webhook-signature` for the standard schemes, `<prefix>Signature` for the others.
[[nodiscard]] std::string signature_header(const SignaturePolicy& policy);

/// `whsec_<base64>`, or a caller's own text: the key is then its bytes. 24..75 bytes, else invalid.
[[nodiscard]] Result<Secret<std::string>> parse_secret(std::string_view text);
[[nodiscard]] std::string format_secret(const Secret<std::string>& key);

constexpr std::size_t secret_bytes_made = 32;
constexpr std::size_t secret_bytes_min = 24;
constexpr std::size_t secret_bytes_max = 75;

/// RFC 4648, padded. `from_base64` accepts exactly what `to_base64` writes.
[[nodiscard]] std::string to_base64(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);
[[nodiscard]] std::string to_hex(std::string_view bytes);

}  // namespace postrider
