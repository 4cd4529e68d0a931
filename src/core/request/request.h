// The request that is sent, as bytes. What does not change from attempt to attempt is built once
// per webhook; per attempt only id, time, signature, attempt number and length are filled in.
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
#include "core/request/request_shape.h"

namespace postrider {

/// Signs `prefix` followed by `body` with one secret and returns the raw bytes.
using Sign = std::function<std::string(std::string_view prefix, std::string_view body)>;

/// One secret's signature, and how long it goes along.
struct TimedSign {
  Sign sign;
  WallTime ends_at = wall_time_max;  // Exclusive.
};

struct AttemptStamp {
  DeliveryId delivery_id;
  std::uint32_t attempt_number = 1;
  WallTime now;
};

/// Owned by the runtime, one per webhook; immutable and shared between attempts.
///
/// What the receiver needs to verify the signature is sent even when its header set is switched
/// off: all `webhook-` headers for the standard schemes; for sha256-timestamp the prefixed
/// `Timestamp`, which then carries the signed Unix seconds instead of a date.
class RequestTemplate {
 public:
  /// The webhook's headers and signature policy have passed forbidden_headers.
  RequestTemplate(const Webhook& webhook, const TargetUrl& url, std::string_view user_agent);
  /// To tell a request again that was made before.
  explicit RequestTemplate(RequestShape shape);

  /// What is to be kept of every request made here. Headers whose name sounds like a credential
  /// have no value in it (P11).
  [[nodiscard]] const RequestShape& kept_shape() const { return hiding_ ? *hiding_ : shape_; }

  /// Head and body, ready for the wire. `signs` are the current secret's and the old ones', newest
  /// first; those that have ended by the stamp's time do not sign, the first always does. Bytes
  /// that a header cannot carry, in a publisher's idempotency key say, are percent-encoded.
  [[nodiscard]] std::string fill(const Event& event, const AttemptStamp& stamp,
                                 std::span<const TimedSign> signs) const;
  [[nodiscard]] std::string fill(const Event& event, const AttemptStamp& stamp,
                                 const Sign& sign) const;
  /// The same with `signature` where the signature would be.
  [[nodiscard]] std::string fill_unsigned(const Event& event, const AttemptStamp& stamp,
                                          std::string_view signature) const;

 private:
  struct Variable {
    std::string_view event_id;
    std::string_view body;
    std::string_view signature;
  };
  [[nodiscard]] std::string write(const Event& event, const AttemptStamp& stamp,
                                  const Variable& variable) const;
  void append_standard(std::string& out, std::string_view event_id,
                       std::int64_t unix_seconds) const;
  void append_prefixed(std::string& out, const Event& event, const AttemptStamp& stamp) const;
  void append_timestamp(std::string& out, WallTime now) const;
  void append_name(std::string& out, std::string_view name) const;

  RequestShape shape_;
  std::optional<RequestShape> hiding_;  // The same without credentials, when it has some.
  std::string signature_header_;        // Its name.
};

}  // namespace postrider
