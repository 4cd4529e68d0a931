// Builders for what a store is given: events, deliveries and settlements with small, known values.
// Deterministic: the same calls make the same ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ports/ledger.h"

namespace postrider::test {

constexpr WallTime store_epoch = wall_from_unix_ms(1'700'000'000'000);

struct PublishOptions {
  std::string type = "order.created";
  Priority priority = Priority::normal;
  Millis due_in{0};
  TenantId tenant_id = "acme";
  std::string data = R"({"n": 1})";
  std::optional<std::string> key;  // With a claim on it, live for claim_life.
  std::string body_digest = "digest";
  std::uint64_t atomic_group = 0;
};

/// Every field is filled in; all others follow from the URL.
[[nodiscard]] RequestShapeRef sample_shape(const std::string& url);

class StoreScript {
 public:
  static constexpr Millis claim_life{86'400'000};

  WallTime now = store_epoch;  // Moves only when a test moves it.
  RequestShapeRef request = sample_shape("https://example.com/hook");  // Of the next attempts.

  /// Ids that sort by their number.
  [[nodiscard]] static WebhookId webhook(std::uint8_t number);

  [[nodiscard]] Publish publish(const std::vector<WebhookId>& to,
                                const PublishOptions& options = {});

  /// A late delivery of the event, due now.
  [[nodiscard]] AddLateDelivery add_late_delivery(EventId event, WebhookId to);

  /// The delivery after one more attempt.
  [[nodiscard]] Settlement success(Delivery delivery);
  [[nodiscard]] Settlement retry(Delivery delivery, WallTime due);
  [[nodiscard]] Settlement death(Delivery delivery, DeadReason why);

  /// An attempt with every field filled in.
  [[nodiscard]] Attempt attempt(std::uint32_t number, std::optional<FailureCategory> failure);

 private:
  Settlement settle(Delivery delivery, DeliveryState state, std::optional<FailureCategory> failure);

  UuidMaker ids_{7};
};

[[nodiscard]] Webhook sample_webhook(WebhookId id);

}  // namespace postrider::test
