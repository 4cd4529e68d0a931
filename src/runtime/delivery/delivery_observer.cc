#include "runtime/delivery/delivery_observer.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "engine/shard/delivered_after.h"

#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

void log_circuit(WebhookId id, const CircuitUpdate& update) {
  switch (update.to) {
    case CircuitState::open:
      if (update.from == CircuitState::half_open) {  // A probe failed: nothing new.
        spdlog::info("circuit.reopened webhook={}", id.to_string());
      } else {
        spdlog::warn("circuit.opened webhook={}", id.to_string());
      }
      return;
    case CircuitState::half_open:
      spdlog::info("circuit.half_open webhook={}", id.to_string());
      return;
    case CircuitState::closed:
      spdlog::info("circuit.closed webhook={}", id.to_string());
      return;
  }
}

}  // namespace

DeliveryObserver::DeliveryObserver(const Clock& clock, Metrics& metrics, StreamHub& stream)
    : clock_(clock), metrics_(metrics), stream_(stream), meter_(metrics.make_attempt_meter()) {}

void DeliveryObserver::attempted(const Settlement& settlement, const Webhook* webhook) {
  meter_->record({.state = settlement.delivery.state,
                  .failure = settlement.attempt->failure_category,
                  .event_type = settlement.delivery.event_type,
                  .tenant_id = webhook ? std::string_view{webhook->tenant_id} : std::string_view{},
                  .number = settlement.attempt->number,
                  .budget_used = settlement.delivery.budget_used,
                  .duration = settlement.attempt->outcome.duration,
                  .delivered_after = delivered_after(settlement)});
  log_attempt(settlement);
  if (settlement.dead) {
    log_dead_letter(settlement);
  }
}

void DeliveryObserver::given_up(const Settlement& settlement) {
  metrics_.delivery_given_up(settlement.delivery.budget_used);
  log_dead_letter(settlement);
}

void DeliveryObserver::circuit_changed(WebhookId id, const CircuitUpdate& update,
                                       const Webhook* webhook) {
  metrics_.circuit_changed(id, update.from, update.to);
  log_circuit(id, update);
  if (stream_.is_active()) {
    stream(id, webhook, update);
  }
}

void DeliveryObserver::alert_raised(const RaiseAlert& alert, const Webhook* webhook) {
  metrics_.alert_raised(alert.kind);
  if (alert.kind != AlertKind::circuit_recovered) {  // That ends an alert, and has its own line.
    spdlog::warn("alert.raised kind={} webhook={} detail=\"{}\"", to_string(alert.kind),
                 alert.webhook_id.to_string(), log_safe(alert.detail));
  }
  if (stream_.is_active()) {
    stream(alert.webhook_id, webhook, AlertUpdate{alert.kind, alert.detail});
  }
}

void DeliveryObserver::webhook_unusable(WebhookId id, const Error& error) {
  spdlog::warn("webhook.unusable webhook={} reason=\"{}\"", id.to_string(),
               log_safe(error.message));
}

void DeliveryObserver::stream(WebhookId id, const Webhook* webhook, StreamEvent::What what) {
  if (webhook) {
    stream_.publish({.at = clock_.now().wall,
                     .webhook_id = id,
                     .tenant_id = webhook->tenant_id,
                     .what = std::move(what)});
  }
}

}  // namespace postrider
