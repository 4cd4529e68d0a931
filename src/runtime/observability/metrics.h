// The server's Prometheus metrics. Counted as things happen, never by scanning tables.
//
// Any thread unless noted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/attempt.h"
#include "core/model/delivery.h"
#include "core/model/tenant_counts.h"
#include "core/policy/breaker.h"
#include "engine/alerts/server_alert_rules.h"
#include "engine/shard/shard_view.h"
#include "ports/metric_sample.h"

#include "runtime/observability/current_load.h"
#include "runtime/observability/rate_limit_meter.h"

namespace postrider {

/// One finished attempt.
struct AttemptFacts {
  DeliveryState state = DeliveryState::succeeded;  // The delivery's new state.
  std::optional<FailureCategory> failure;
  std::string_view event_type;
  std::string_view tenant_id;
  std::uint32_t number = 1;
  std::uint32_t budget_used = 1;  // Attempts since the delivery was published or revived.
  Micros duration{0};
  std::optional<Micros> delivered_after = std::nullopt;  // See engine/shard/delivered_after.h.
};

struct CommitFacts {
  std::size_t publishes = 0;
  std::size_t settlements = 0;
  Micros duration{0};
};

/// Counts the attempts of one io thread. Caches the counter of each label set, because the lookup
/// costs more than the increment. That io thread only.
class AttemptMeter {
 public:
  virtual ~AttemptMeter() = default;
  virtual void record(const AttemptFacts& facts) = 0;
};

class Metrics {
 public:
  virtual ~Metrics() = default;

  [[nodiscard]] virtual std::unique_ptr<AttemptMeter> make_attempt_meter() = 0;

  virtual void committed(const CommitFacts& facts) = 0;
  virtual void store_failed() = 0;
  /// An attempt was not made, because this server lacked a resource. It is made later.
  virtual void attempt_postponed() = 0;
  /// A delivery became a dead letter without an attempt, after `budget_used` attempts.
  virtual void delivery_given_up(std::uint32_t budget_used) = 0;
  /// Counts deliveries that entered the state without an attempt.
  virtual void deliveries_entered(DeliveryState state, std::int64_t count) = 0;
  /// `reason`: `queue_full`, `fanout_backlog`, `store`, `draining`.
  virtual void publish_refused(std::string_view reason) = 0;
  virtual void circuit_changed(WebhookId webhook_id, CircuitState from, CircuitState to) = 0;
  /// The state of a circuit when the server started.
  virtual void circuit_restored(WebhookId webhook_id, CircuitState state) = 0;
  virtual void webhook_removed(WebhookId webhook_id) = 0;
  virtual void alert_raised(AlertKind kind) = 0;
  /// Adds `change`, which may be negative, to the active alerts of a kind.
  virtual void alerts_changed(AlertKind kind, std::int64_t change) = 0;
  /// Sets the number of waiting deliveries in the store.
  virtual void waiting_counted(const TenantCounts& waiting) = 0;
  /// Adds `change` to the number of waiting deliveries.
  virtual void waiting_changed(const TenantCounts& change) = 0;
  /// These waiting deliveries were cancelled.
  virtual void waiting_cancelled(const TenantCounts& cancelled) = 0;
  /// Sets the number of dead letters in the store, by tenant.
  virtual void dead_letters_counted(const std::map<TenantId, std::uint64_t>& counts) = 0;
  /// Adds `change`, which may be negative, to the dead letters of a tenant.
  virtual void dead_letters_changed(std::string_view tenant_id, std::int64_t change) = 0;
  /// Adds `changes` to the current loads of the tenants.
  virtual void tenant_loads_changed(const TenantLoadChanges& changes) = 0;
  virtual void shard_seen(std::size_t worker, const ShardView& view,
                          std::uint32_t in_flight_max) = 0;

  /// The rate limits of webhooks. `text` does not show them: add their samples.
  [[nodiscard]] virtual RateLimitMeter& rate_limits() = 0;

  /// From now on, `facts` contains the durations of attempts that took longer than this. 0: none.
  virtual void watch_slow_attempts(Millis longer_than) = 0;
  /// The input of the alert rules. Lists the tenants with more than `dead_letters_max` dead
  /// letters.
  [[nodiscard]] virtual ServerFacts facts(std::int64_t dead_letters_max) = 0;

  /// Of all tenants, or of one.
  [[nodiscard]] virtual CurrentLoad current_load(const std::optional<TenantId>& tenant_id) = 0;

  /// `kind`: `event`, `delivery`, `attempt`, `dead_letter`, `operation`, `webhook`.
  virtual void retention_removed(std::string_view kind, std::uint64_t count) = 0;
  virtual void archive_failed() = 0;

  /// `text` also shows what `collect` returns. `collect` runs on the thread that calls `text`.
  virtual void add_samples(CollectSamples collect) = 0;

  /// All metrics in the Prometheus text format.
  [[nodiscard]] virtual std::string text() = 0;
};

/// `pool_id` labels the slots that all workers share.
[[nodiscard]] std::unique_ptr<Metrics> make_metrics(std::string pool_id = "all");

}  // namespace postrider
