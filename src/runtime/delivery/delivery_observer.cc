#include "runtime/delivery/delivery_observer.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "runtime/observability/attempt_log.h"

namespace postrider {

DeliveryObserver::DeliveryObserver(const Clock& clock, Metrics& metrics, StreamHub& stream)
    : clock_(clock), metrics_(metrics), stream_(stream), meter_(metrics.make_attempt_meter()) {}

void DeliveryObserver::attempted(const Settlement& settlement, const Webhook* webhook) {
  meter_->record({.state = settlement.delivery.state,
                  .failure = settlement.attempt->failure_category,
                  .event_type = settlement.delivery.event_type,
                  .tenant_id = webhook ? std::string_view{webhook->tenant_id} : std::string_view{},
                  .number = settlement.attempt->number,
                  .budget_used = settlement.delivery.budget_used,
                  .duration = settlement.attempt->outcome.duration});
  log_attempt(settlement);
}

void DeliveryObserver::given_up(const Settlement& settlement) {
  metrics_.delivery_given_up(settlement.delivery.budget_used);
  spdlog::info("delivery.given_up delivery={} webhook={} attempts={} reason={}",
               settlement.delivery.id.to_string(), settlement.delivery.webhook_id.to_string(),
               settlement.delivery.attempt_count, settlement.dead->reason);
}

void DeliveryObserver::circuit_changed(WebhookId id, const CircuitUpdate& update,
                                       const Webhook* webhook) {
  metrics_.circuit_changed(id, update.from, update.to);
  if (stream_.is_active()) {
    stream(id, webhook, update);
  }
}

void DeliveryObserver::alert_raised(const RaiseAlert& alert, const Webhook* webhook) {
  metrics_.alert_raised(alert.kind);
  spdlog::warn("alert kind={} webhook={} detail=\"{}\"", to_string(alert.kind),
               alert.webhook_id.to_string(), log_safe(alert.detail));
  if (stream_.is_active()) {
    stream(alert.webhook_id, webhook, AlertUpdate{alert.kind, alert.detail});
  }
}

void DeliveryObserver::webhook_unusable(WebhookId id, const Error& error) {
  spdlog::warn("webhook.unusable webhook={} reason=\"{}\"", id.to_string(),
               log_safe(error.message));
}

void DeliveryObserver::stream(WebhookId id, const Webhook* webhook,
                              std::variant<DeliveryUpdate, CircuitUpdate, AlertUpdate> what) {
  if (webhook) {
    stream_.publish({.at = clock_.now().wall,
                     .webhook_id = id,
                     .tenant_id = webhook->tenant_id,
                     .what = std::move(what)});
  }
}

}  // namespace postrider
