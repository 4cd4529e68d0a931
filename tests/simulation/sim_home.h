// What a simulated worker needs from its node, and what it reports to the node.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/random.h"
#include "engine/shard/allowance.h"
#include "ports/clock.h"

#include "runtime/delivery/shard_host.h"

#include "tests/simulation/scenario.h"
#include "tests/simulation/sim_store.h"

namespace postrider::sim {

/// A request that a worker has sent.
struct SimRequest {
  std::size_t worker = 0;
  std::uint64_t number = 0;  // Of all requests of the worker.
  DeliveryId delivery_id;
  WebhookId webhook_id;
  EventId event_id;
};

class SimHome {
 public:
  /// Runs `act` after a delay, if the node is still in the same life.
  virtual void later(Micros delay, std::function<void()> act) = 0;
  /// The same, at a time of the node's clock.
  virtual void later_at(MonoTime at, std::function<void()> act) = 0;
  /// Runs `act` after a delay, whatever becomes of the node.
  virtual void elsewhere(Micros delay, std::function<void()> act) = 0;
  virtual void note(const std::string& line) = 0;

  virtual void submit(SimJob job) = 0;
  virtual void disable_webhook(WebhookId id) = 0;
  virtual void reschedule(WebhookId id) = 0;
  virtual void handed_back(ShardNumber shard) = 0;
  virtual void drained(const ShardView& view) = 0;

  // For the checks.
  virtual void before_step(const Input& input) = 0;
  virtual void after_step(ShardHost& host, const Commands& commands) = 0;
  virtual void request_sent(const SimRequest& request) = 0;
  /// The worker has the outcome, or has ended the request.
  virtual void request_ended(const SimRequest& request) = 0;
  /// The receiver has the event.
  virtual void accepted(DeliveryId id) = 0;
  /// The receiver may have the event.
  virtual void ambiguous(DeliveryId id) = 0;

  /// Whether faults happen.
  [[nodiscard]] virtual bool is_troubled() const = 0;

 protected:
  ~SimHome() = default;
};

/// Everything referred to must outlive the worker.
struct SimWorkerParts {
  SimHome& home;
  const Scenario& scenario;
  SplitMix64& random;
  const Clock& clock;
  Allowance& allowance;
  Metrics& metrics;
  StreamHub& stream;
  const SendPermit* permit = nullptr;
};

}  // namespace postrider::sim
