// What a worker watches for alerts: attempts as they end, and circuits as they change.
#include <algorithm>

#include <boost/asio/post.hpp>
#include <spdlog/spdlog.h>

#include "runtime/delivery/worker.h"

namespace postrider {

void Worker::look_for_alerts() {
  boost::asio::post(io_, [this] {
    for (const AlertChange& change : alert_rules_.look(parts_.clock->now().steady)) {
      parts_.alert(change);
    }
  });
}

void Worker::change_alert_limits(const AlertLimits& limits) {
  boost::asio::post(io_, [this, limits] { alert_rules_.change(limits); });
}

/// No attempt speaks of it, so that this does (P12).
void Worker::note_given_up(const Settlement& settlement) {
  parts_.metrics->delivery_given_up();
  spdlog::info("delivery.given_up delivery={} webhook={} attempts={} reason={}",
               settlement.delivery.id.to_string(), settlement.delivery.webhook_id.to_string(),
               settlement.delivery.attempt_count, settlement.dead->reason);
  watch_attempt(settlement);
}

void Worker::watch_attempt(const Settlement& settlement) {
  const std::optional<FailureCategory> failure =
      settlement.attempt ? settlement.attempt->failure_category : std::nullopt;
  const AttemptNote note{.webhook_id = settlement.delivery.webhook_id,
                         .failed = failure.has_value(),
                         .dns_failed = failure == FailureCategory::dns,
                         .dead = settlement.dead.has_value(),
                         .attempted = settlement.attempt.has_value()};
  for (const AlertChange& change : alert_rules_.attempted(note, parts_.clock->now().steady)) {
    parts_.alert(change);
  }
}

/// A change in the future was written down by a wrong clock; it counts from now.
void Worker::watch_circuit(WebhookId id, const CircuitRecord& record) {
  const WallTime now = parts_.clock->now().steady;
  alert_rules_.circuit_is(id, record.state, std::min(record.changed_at, now));
}

}  // namespace postrider
