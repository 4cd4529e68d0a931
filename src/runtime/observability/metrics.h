// What the server counts about itself, in Prometheus' words. Fed from in-process events, never from
// a table scan. Any thread may call it unless a comment says otherwise.
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
#include "core/policy/breaker.h"
#include "engine/alerts/server_alert_rules.h"
#include "engine/shard/shard.h"
#include "ports/metric_sample.h"

namespace postrider {

/// One finished attempt.
struct AttemptFacts {
  DeliveryState state = DeliveryState::succeeded;  // What the delivery became.
  std::optional<FailureCategory> failure;
  std::string_view event_type;
  std::string_view tenant_id;
  std::uint32_t number = 1;
  Micros duration{0};
};

struct CommitFacts {
  std::size_t publishes = 0;
  std::size_t settlements = 0;
  Micros duration{0};
};

/// The counters of one io thread's attempts: remembers where each label set is counted, because
/// looking it up anew would cost more than the counting. Used by that thread only.
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
  /// A delivery became a dead letter without another attempt.
  virtual void delivery_given_up() = 0;
  /// `reason`: `queue_full`, `store`, `draining`.
  virtual void publish_refused(std::string_view reason) = 0;
  virtual void circuit_changed(WebhookId webhook_id, CircuitState from, CircuitState to) = 0;
  virtual void webhook_removed(WebhookId webhook_id) = 0;
  virtual void alert_raised(AlertKind kind) = 0;
  /// Active alerts of a kind: `change` more, or fewer when negative.
  virtual void alerts_changed(AlertKind kind, std::int64_t change) = 0;
  /// Deliveries that wait, in the store: so many, however many were counted before.
  virtual void waiting_counted(std::uint64_t count) = 0;
  /// So many more, or fewer when negative.
  virtual void waiting_changed(std::int64_t change) = 0;
  /// Dead letters of a tenant: `change` more, or fewer when negative.
  virtual void dead_letters_changed(std::string_view tenant_id, std::int64_t change) = 0;
  virtual void shard_seen(std::size_t worker, const ShardView& view,
                          std::uint32_t in_flight_max) = 0;

  /// What alerts are about. Dead letters of tenants that have more than `dead_letters_max`.
  [[nodiscard]] virtual ServerFacts facts(std::int64_t dead_letters_max) = 0;

  /// `kind`: `event`, `delivery`, `attempt`, `dead_letter`.
  virtual void retention_removed(std::string_view kind, std::uint64_t count) = 0;
  virtual void archive_failed() = 0;

  /// Shown with the rest from now on.
  virtual void add_samples(CollectSamples take) = 0;

  /// The exposition text.
  [[nodiscard]] virtual std::string text() = 0;
};

[[nodiscard]] std::unique_ptr<Metrics> make_metrics();

}  // namespace postrider
