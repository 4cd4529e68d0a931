// Builders of test data for stores: events, deliveries, settlements. Deterministic: the same calls
// give the same ids.
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
  std::optional<std::string> key;  // An idempotency key, claimed for claim_life.
  std::string body_digest = "digest";
  std::uint64_t atomic_group = 0;
  std::optional<std::string> resource_id = std::nullopt;
};

/// All fields are set. Two shapes are equal if their URLs are.
[[nodiscard]] RequestShapeRef sample_shape(const std::string& url);

class StoreScript {
 public:
  static constexpr Millis claim_life{86'400'000};

  WallTime now = store_epoch;                                          // Changed by tests only.
  RequestShapeRef request = sample_shape("https://example.com/hook");  // For the next settlements.

  /// The ids are ordered by number.
  [[nodiscard]] static WebhookId webhook(std::uint8_t number);

  [[nodiscard]] Publish publish(const std::vector<WebhookId>& to,
                                const PublishOptions& options = {});

  /// A late delivery of the event, due now.
  [[nodiscard]] AddLateDelivery add_late_delivery(EventId event, WebhookId to);

  /// Each settles the delivery after one more attempt.
  [[nodiscard]] Settlement success(Delivery delivery);
  [[nodiscard]] Settlement retry(Delivery delivery, WallTime due);
  [[nodiscard]] Settlement death(Delivery delivery, DeadReason why);

  /// An attempt with all fields set.
  [[nodiscard]] Attempt attempt(std::uint32_t number, std::optional<FailureCategory> failure);

 private:
  Settlement settle(Delivery delivery, DeliveryState state, std::optional<FailureCategory> failure);

  UuidGenerator ids_{7};
};

[[nodiscard]] Webhook sample_webhook(WebhookId id);

}  // namespace postrider::test
