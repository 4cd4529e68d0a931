// Runs one shard: feeds it inputs and performs every command. Decides nothing. Knows no thread and
// no library: it reaches the outside through the ports in shard_ports.h and the Transport.
//
// The worker and the simulation both use it. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/model/shard_number.h"
#include "core/net/target_url.h"
#include "engine/alerts/alert_rules.h"
#include "engine/shard/allowance.h"
#include "engine/shard/shard.h"
#include "ports/clock.h"
#include "ports/transport.h"

#include "runtime/delivery/attempt_waiters.h"
#include "runtime/delivery/delivery_observer.h"
#include "runtime/delivery/shard_ports.h"
#include "runtime/delivery/target.h"
#include "runtime/observability/tracer.h"
#include "runtime/store/event_loads.h"
#include "runtime/store/shard_replies.h"

namespace postrider {

/// One request outside all lanes: nothing is recorded and no limit applies.
struct Probe {
  std::shared_ptr<const Webhook> webhook;  // Need not be stored.
  Event event;
  Millis timeout{0};
  std::function<void(Outcome)> done;  // On the shard's thread.
};

struct ShardHostOptions {
  std::size_t index = 0;  // Names the shard in metrics.
  ShardOptions shard;
  std::uint64_t seed = 0;
  AlertLimits alerts = {};
  std::size_t payload_cache_bytes = 64u << 20;
  UrlPolicy url_policy;
  std::string user_agent;
};

/// All references must outlive the host.
struct ShardHostParts {
  const Clock& clock;
  Allowance& allowance;  // This shard's part of the shared limits.
  Transport& transport;
  StoreQueue& store;
  ShardLoop& loop;
  ShardOwner& owner;
  Metrics& metrics;
  StreamHub& stream;
  MakeSign make_sign;
  ShardTrace* trace = nullptr;
  Tracer* tracer = nullptr;            // Null: tracing is off.
  const SendPermit* permit = nullptr;  // Null: all webhooks are this node's, always.
};

class ShardHost {
 public:
  ShardHost(ShardHostOptions options, ShardHostParts parts);
  ShardHost(const ShardHost&) = delete;
  ShardHost& operator=(const ShardHost&) = delete;

  void feed(Input input);
  /// Takes what one turn of the store has for this shard.
  void receive(ShardReplies replies);
  /// Call at the time set by ShardLoop::set_alarm. A spurious call does no harm.
  void ring_alarm();
  /// Stops the transport and hands back what is still in flight: it is sent again after the next
  /// start (P2, P10).
  void abandon();

  /// Applies to every connection from now on, and to the URL of webhooks that change from now on.
  void change_url_policy(UrlPolicy policy);
  void probe(Probe probe);

  /// `done` runs once: when the next attempt of the delivery is on disk, when `patience` is over or
  /// the webhook's part is handed back, or on failure.
  void await_attempt(const LaneDelivery& delivery, Millis patience, AttemptWaiters::Done done);
  void fail_waiter(DeliveryId id, const Error& error) { waiters_.fail(id, error); }

  /// Raises and resolves alerts that depend on time. Call periodically.
  void check_alerts();
  void change_alert_limits(const AlertLimits& limits) { alert_rules_.change(limits); }
  /// Before the first WebhookChanged of its webhook: an alert that was active when the server
  /// stopped, or when another node handed the webhook's part back.
  void restore_alert(const Alert& alert) { alert_rules_.restore(alert); }

  [[nodiscard]] Shard& shard() { return shard_; }

 private:
  void prepare(const Input& input);
  void remember(const WebhookChanged& changed);
  void forget(WebhookId id);
  void forget_part(ShardNumber shard);

  // One for each command.
  void perform(StartAttempt command);
  void perform(Settle command);
  void perform(const LoadLane& command);
  void perform(const Reschedule& command);
  void perform(const SetAlarm& command);
  void perform(SaveCircuit command);
  void perform(const DisableWebhook& command);
  void perform(RaiseAlert command);
  void perform(const EndAttempts& command);
  void perform(const CircuitCommandReturned& command);
  void perform(const ShardHandedBack& command);
  void perform(const Drained& command);

  void send(const StartAttempt& command, const EventRef& event);
  void feed_later(Input input);
  void end_attempts();
  void events_loaded(const EventLoads::Load& load, Result<std::vector<Event>> events);
  [[nodiscard]] const Target* find_target(WebhookId id) const;
  [[nodiscard]] const Webhook* find_webhook(WebhookId id) const;
  [[nodiscard]] TargetOptions target_options() const;
  void arm_alarm();
  void watch_attempt(const Settlement& settlement);
  void trace(const Settlement& settlement);
  void watch_circuit(WebhookId id, const CircuitRecord& record);
  void end_outage(WebhookId id);

  void flush_soon();
  void flush();
  void flush_circuits();
  void flush_settlements();
  void flush_event_loads();

  ShardHostOptions options_;
  ShardHostParts parts_;
  Shard shard_;
  DeliveryObserver observer_;
  EventLoads events_;
  std::unordered_map<WebhookId, std::unique_ptr<Target>> targets_;
  std::unordered_map<WebhookId, CircuitState> circuits_;  // As last seen, to notice changes.
  /// The webhooks of each part. Only with leases.
  std::unordered_map<ShardNumber, std::unordered_set<WebhookId>> webhooks_;
  AttemptWaiters waiters_;
  AlertRules alert_rules_;
  std::optional<MonoTime> shard_alarm_;

  // Collected while handling what is ready now, handed to the store together.
  bool flush_scheduled_ = false;
  std::vector<Settlement> settlements_;
  std::unordered_map<WebhookId, SaveCircuit> unsaved_circuits_;  // The latest of each webhook.

  bool abandoning_ = false;
  std::vector<ShardNumber> ending_;     // Parts whose attempts are to be ended now.
  std::optional<ShardNumber> ended_{};  // The part whose attempts are being ended.
};

}  // namespace postrider
