// Turns the deliveries that one transaction created into events of the live stream. A few webhooks
// get an event each; many share one for each tenant and event type, so that a large fan-out does
// not flood the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/model/delivery.h"

#include "runtime/observability/stream_hub.h"

namespace postrider {

/// The most events of one transaction that name their webhook.
constexpr std::size_t created_webhooks_max = 32;

class CreatedDeliveries {
 public:
  /// Call for each created delivery, with the tenant that may see it (P11).
  void add(const TenantId& tenant_id, const Delivery& delivery);

  /// Each delivery is counted by exactly one event.
  [[nodiscard]] std::vector<StreamEvent> to_stream_events(WallTime now) const;

 private:
  struct Group {
    std::uint64_t deliveries = 0;
    std::map<WebhookId, std::uint64_t> webhooks;  // Incomplete with more than created_webhooks_max.
  };

  std::map<std::pair<TenantId, std::string>, Group> groups_;  // By tenant and event type.
};

}  // namespace postrider
