// The request that is sent, as bytes. What does not change from attempt to attempt is built once per
// webhook; per attempt only id, time, signature, attempt number and length are filled in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/delivery.h"
#include "core/event.h"
#include "core/target_url.h"
#include "core/webhook.h"

namespace postrider {

/// Signs `prefix` followed by `body` with one secret and returns the raw bytes.
using Sign = std::function<std::string(std::string_view prefix, std::string_view body)>;

struct AttemptStamp {
  DeliveryId delivery_id;
  std::uint32_t attempt_number = 1;
  WallTime now;
};

/// Owned by the runtime, one per webhook; immutable and shared between attempts.
class RequestTemplate {
 public:
  RequestTemplate(const Webhook& webhook, const TargetUrl& url, std::string_view user_agent);

  /// Head and body, ready for the wire. `sign` is called once.
  [[nodiscard]] std::string fill(const Event& event, const AttemptStamp& stamp, const Sign& sign) const;

 private:
  std::string fixed_head_;  // Request line, Host, User-Agent, Content-Type, custom headers.
  std::string webhook_id_;
  SignaturePolicy signature_;
  PayloadFormat payload_format_;
};

}  // namespace postrider
