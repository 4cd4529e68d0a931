// Counts, logs and streams what one shard does. Used by the shard's thread only.
#pragma once

#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/model/webhook.h"
#include "engine/shard/shard.h"
#include "ports/clock.h"

#include "runtime/observability/metrics.h"
#include "runtime/observability/stream_hub.h"

namespace postrider {

class DeliveryObserver {
 public:
  /// All parameters must outlive this object.
  DeliveryObserver(const Clock& clock, Metrics& metrics, StreamHub& stream);

  // `webhook` is null if the webhook is unknown. Nothing is streamed then: without its tenant the
  // update could reach the wrong subscriber (P11).

  void attempted(const Settlement& settlement, const Webhook* webhook);
  /// The delivery became a dead letter without another attempt.
  void given_up(const Settlement& settlement);
  /// The delivery was cancelled without an attempt, because its webhook was removed.
  void cancelled() { metrics_.deliveries_entered(DeliveryState::cancelled, 1); }
  void circuit_changed(WebhookId id, const CircuitUpdate& update, const Webhook* webhook);
  void circuit_restored(WebhookId id, CircuitState state) { metrics_.circuit_restored(id, state); }
  void rate_limits_used(const std::vector<RateLimitUse>& uses) {
    metrics_.rate_limits().record(uses);
  }
  void alert_raised(const RaiseAlert& alert, const Webhook* webhook);
  /// The URL policy does not allow the webhook's URL.
  void webhook_unusable(WebhookId id, const Error& error);
  void webhook_removed(WebhookId id) { metrics_.webhook_removed(id); }
  void tenant_loads_changed(const TenantLoadChanges& changes) {
    if (!changes.empty()) {
      metrics_.tenant_loads_changed(changes);
    }
  }
  void shard_seen(std::size_t index, const ShardView& view, std::uint32_t in_flight_max) {
    metrics_.shard_seen(index, view, in_flight_max);
  }

 private:
  void stream(WebhookId id, const Webhook* webhook, StreamEvent::What what);

  const Clock& clock_;
  Metrics& metrics_;
  StreamHub& stream_;
  std::unique_ptr<AttemptMeter> meter_;
};

}  // namespace postrider
