// What is signed and how the signature is formatted. The keyed hash itself is an argument, because
// core does not depend on a crypto library.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Which headers are sent with the prefix. `platform`: ID (of the webhook), Event, Delivery,
/// Attempt, Timestamp (RFC 3339) and, without the prefix, X-Idempotency-Key. `exchange`: Id (of the
/// event), Timestamp (Unix seconds), Attempt. `outbox`: Id (of the event, or its source_id),
/// Timestamp (Unix seconds). `workspace`: Event-ID. `tenant`: Event, Delivery-ID.
enum class HeaderSet : std::uint8_t { platform, exchange, outbox, workspace, tenant };

[[nodiscard]] std::string_view to_string(HeaderSet set);
[[nodiscard]] std::optional<HeaderSet> parse_header_set(std::string_view text);

struct SignaturePolicy {
  SignatureScheme scheme = SignatureScheme::standard;
  std::string header_prefix = "X-Webhook-";  // Of `header_set` and of X-…-Signature.
  bool standard_headers = true;              // webhook-id, webhook-timestamp, webhook-signature.
  bool prefixed_headers = true;              // X-Webhook-…, selected by `header_set`.
  HeaderSet header_set = HeaderSet::platform;

  bool operator==(const SignaturePolicy&) const = default;
};

/// The text that a scheme signs, in two parts to be hashed in order, so that the body is not
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

/// True if the scheme uses the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.
[[nodiscard]] constexpr bool is_standard(SignatureScheme scheme) {
  return scheme == SignatureScheme::standard || scheme == SignatureScheme::standard_ed25519;
}

/// True if the header has room for only one signature. During a rotation the oldest secret signs
/// it, and the newest one signs `next_signature_header`.
[[nodiscard]] constexpr bool has_one_signature(SignatureScheme scheme) {
  return scheme == SignatureScheme::sha256_timestamp || scheme == SignatureScheme::sha256_body;
}

/// Formats the header's value from one raw signature per secret, newest first. `signatures` must
/// not be empty, and must contain one signature if has_one_signature.
[[nodiscard]] std::string signature_value(SignatureScheme scheme, std::int64_t unix_seconds,
                                          std::span<const std::string> signatures);

/// `webhook-signature` for the standard schemes, `<prefix>Signature` for the others.
[[nodiscard]] std::string signature_header(const SignaturePolicy& policy);
/// `<prefix>Signature-Next`, for the schemes that have one signature.
[[nodiscard]] std::string next_signature_header(const SignaturePolicy& policy);

/// RFC 4648, padded. `from_base64` accepts exactly what `to_base64` returns.
[[nodiscard]] std::string to_base64(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);
[[nodiscard]] std::string to_hex(std::string_view bytes);

}  // namespace postrider
