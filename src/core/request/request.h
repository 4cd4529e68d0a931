// Builds the bytes of the requests to a webhook. The part that is the same for all attempts is
// built once per webhook. Each attempt adds only id, time, signature, attempt number and body.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/delivery.h"
#include "core/model/event.h"
#include "core/model/webhook.h"
#include "core/net/target_url.h"
#include "core/request/payload_format.h"
#include "core/request/request_shape.h"

namespace postrider {

/// Signs `prefix` followed by `body` with one secret and returns the raw bytes.
using Sign = std::function<std::string(std::string_view prefix, std::string_view body)>;

/// Signs with one secret until `ends_at`.
struct TimedSign {
  Sign sign;
  WallTime ends_at = wall_time_max;  // Exclusive.
};

/// Owned by the runtime, one per webhook. Immutable and shared between attempts.
///
/// Headers that the receiver needs to verify the signature are sent even if their header set is
/// switched off: all `webhook-` headers for the standard schemes, and the prefixed `Timestamp` for
/// sha256-timestamp, with the signed Unix seconds instead of a date.
///
/// The requests of an event with a trace context have `traceparent`, with a span of each attempt's
/// own, and `tracestate`. Neither is signed. A webhook that sets one of them itself gets its own.
class RequestTemplate {
 public:
  /// The webhook's headers and signature policy must have passed forbidden_headers.
  RequestTemplate(const Webhook& webhook, const TargetUrl& url, std::string_view user_agent);
  /// For reconstructing a request that was sent before.
  explicit RequestTemplate(RequestShape shape);

  /// The part to store for every request of this template. The values of sensitive headers are
  /// hidden (P11).
  [[nodiscard]] const RequestShape& stored_shape() const {
    return redacted_shape_ ? *redacted_shape_ : shape_;
  }

  /// Returns head and body, ready to send. `signs` are for the current secret and the old ones,
  /// newest first. The first always signs; the others sign unless they have ended at the stamp's
  /// time. See has_one_signature for the schemes that cannot list them all. Bytes that a header
  /// cannot contain, for example in an idempotency key, are percent-encoded.
  [[nodiscard]] std::string fill(const Event& event, const AttemptStamp& stamp,
                                 std::span<const TimedSign> signs) const;
  [[nodiscard]] std::string fill(const Event& event, const AttemptStamp& stamp,
                                 const Sign& sign) const;
  /// The same, with `signature` in place of each signature.
  [[nodiscard]] std::string fill_unsigned(const Event& event, const AttemptStamp& stamp,
                                          std::string_view signature) const;

 private:
  struct Variable {
    std::string_view event_id;
    std::string_view body;
    std::string_view signature;
    std::string_view next_signature;  // Empty: there is none.
  };
  [[nodiscard]] std::string write(const Event& event, const AttemptStamp& stamp,
                                  const Variable& variable) const;
  void append_standard(std::string& out, std::string_view event_id,
                       std::int64_t unix_seconds) const;
  void append_prefixed(std::string& out, const Event& event, const AttemptStamp& stamp) const;
  void append_timestamp(std::string& out, WallTime now) const;
  void append_trace(std::string& out, const Event& event, const AttemptStamp& stamp) const;
  void append_name(std::string& out, std::string_view name) const;

  RequestShape shape_;
  std::optional<RequestShape> redacted_shape_;  // Without credentials. Set only if shape_ has some.
  std::string signature_header_;                // The headers' names.
  std::string next_signature_header_;
  bool has_own_trace_ = false;  // The webhook's headers set it.
};

}  // namespace postrider
