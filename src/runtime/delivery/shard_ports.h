// What a ShardHost needs from the outside. The worker and the node implement these in production,
// the simulation and the tests have their own. Unless noted, calls come from the shard's thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/event.h"
#include "core/model/shard_number.h"
#include "engine/alerts/alert_rules.h"
#include "engine/shard/shard.h"

namespace postrider {

/// The queue of jobs for the store. Never blocks and never refuses: the engine bounds what it asks
/// for. Jobs are performed in the order of the calls; replies arrive through ShardHost::receive.
class StoreQueue {
 public:
  /// Answered by one Settled or one StoreFailed for all of them.
  virtual void settle(std::vector<Settlement> settlements) = 0;
  /// Not answered.
  virtual void save_circuit(SaveCircuit save) = 0;
  /// Answered by LaneLoaded or LaneLoadFailed.
  virtual void load_lane(LoadLane query) = 0;
  /// Calls `done` later with the events found, in no particular order, or an error.
  virtual void load_events(std::vector<EventId> ids,
                           std::function<void(Result<std::vector<Event>>)> done) = 0;

 protected:
  ~StoreQueue() = default;
};

/// The event loop of the shard's thread.
class ShardLoop {
 public:
  /// Calls ShardHost::ring_alarm at `at`. Replaces the previous alarm.
  virtual void set_alarm(MonoTime at) = 0;
  /// Runs `task` later, behind everything that is ready now.
  virtual void post(std::function<void()> task) = 0;

 protected:
  ~ShardLoop() = default;
};

/// The node as its shards see it. Implementations must be callable from any thread.
class ShardOwner {
 public:
  /// Switches the webhook off and tells its lane.
  virtual void disable_webhook(WebhookId id, const std::string& reason) = 0;
  /// See the Reschedule command.
  virtual void reschedule(WebhookId id) = 0;
  /// An alert of a webhook was raised or resolved.
  virtual void alert_changed(const AlertChange& change) = 0;
  /// See the CircuitCommandReturned command.
  virtual void circuit_command_returned(const CircuitCommanded& command) = 0;
  /// See the ShardHandedBack command. Everything about it was submitted to the store before.
  virtual void shard_handed_back(ShardNumber shard) = 0;
  /// The shard has nothing in flight and nothing unsettled, and starts nothing more.
  virtual void shard_drained() = 0;

 protected:
  ~ShardOwner() = default;
};

/// Whether this node may still send for the webhooks of a shard (P8). Asked before each attempt:
/// the process may have been paused since it last heard about its leases. Any thread.
class SendPermit {
 public:
  [[nodiscard]] virtual bool may_send(ShardNumber shard) const = 0;

 protected:
  ~SendPermit() = default;
};

/// Sees everything that enters and leaves the shard. For tests; production has none.
class ShardTrace {
 public:
  virtual void before_step(const Input& input) = 0;
  /// Before the commands are performed.
  virtual void after_step(const Commands& commands) = 0;

 protected:
  ~ShardTrace() = default;
};

}  // namespace postrider
