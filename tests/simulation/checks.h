// Checks the promises of docs/invariants.md against everything that happens in the simulated world.
// Independent of how the engine keeps them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/shard/messages.h"
#include "engine/shard/shard_view.h"

#include "adapters/memory/memory_store.h"

#include "tests/simulation/scenario.h"
#include "tests/simulation/timeline.h"

namespace postrider::sim {

/// Describes how the last start exceeds the limit, which is that of a clock that runs `rate` times
/// as fast. Empty if it does not.
[[nodiscard]] std::string excess_of(const std::optional<RateLimit>& limit,
                                    const std::vector<MonoTime>& starts, double rate = 1);

class Checks {
 public:
  Checks(const Scenario& scenario, const MemoryStore& durable, const Timeline& timeline)
      : scenario_(scenario), durable_(durable), timeline_(timeline) {}

  // What publishers and users saw.
  void acknowledged(EventId id, const std::vector<WebhookId>& receivers) {
    std::vector<WebhookId>& known = acknowledged_[id];
    known.insert(known.end(), receivers.begin(), receivers.end());
  }
  /// A replay asked for this delivery. It does not wait for earlier events that have a note.
  void replayed(DeliveryId id) { replayed_.insert(id); }
  void revived(DeliveryId id) { revived_.insert(id); }
  /// The revival is on disk, so another attempt must follow.
  void revival_stored(DeliveryId id) {
    attempts_due_.insert(id);
    admitted_at_[id] = timeline_.mono();
  }

  // What the node did and received.
  void webhook_changed(const Webhook& webhook) {
    known_webhooks_.insert_or_assign(webhook.id, webhook);
    policies_[webhook.id].push_back(webhook.retry);
  }
  void webhook_removed(WebhookId id) { known_webhooks_.erase(id); }
  void admitted(const Delivery& delivery);
  void attempt_started(const StartAttempt& start);
  /// `sent` is false if the attempt was abandoned.
  void attempt_ended(DeliveryId delivery_id, bool sent);
  /// An attempt was made, also of a revived delivery.
  void attempted(DeliveryId id) { attempts_due_.erase(id); }
  void settle_requested(DeliveryId id) { unsettled_.insert(id); }
  void settled(DeliveryId id) {
    unsettled_.erase(id);
    check_wait(id);
  }
  /// All waiting deliveries of the webhook must follow its retry policy.
  void check_waits(WebhookId id);
  void lane_seen(const LaneView& view, bool started);
  void shard_seen(const ShardView& view);
  void drained(const ShardView& view);
  /// The drain has not ended although every attempt has.
  void drain_overdue();
  void started_while_draining(DeliveryId id);

  // What receivers and the world did.
  /// A request with these ids was sent.
  void sent(DeliveryId id, WebhookId webhook_id, EventId event_id);
  void accepted(DeliveryId id);
  void ambiguous(DeliveryId id) { ambiguous_.insert(id); }
  void trouble() {
    last_trouble_ = timeline_.mono();
    for (auto& [id, since] : waits_since_) {
      since = ended_count_;
    }
  }
  void crashed();

  /// P1 and P3. Call when no transaction is in progress.
  void check_store();
  /// P2. Call when nothing is left to do.
  void check_end();

  /// Something else is wrong.
  void violate(const std::string& what);

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Flight {
    WebhookId webhook_id;
    std::string event_type;
    TenantId tenant_id;
    std::string host;
  };
  using Starts = std::vector<MonoTime>;

  void check_notes(const Delivery& delivery, const Webhook& webhook);
  void check_reached(EventId id, const std::vector<WebhookId>& receivers);
  void check_order(const Delivery& delivery, const Webhook& webhook);
  void check_rate(const Webhook& webhook);
  void check_shared_limits(const Webhook& webhook);
  void check_wait(DeliveryId id);
  void check_memory(const Delivery& delivery);
  void check_spacing(const Delivery& delivery, const Webhook& webhook);
  void check_promptness(const Delivery& delivery);
  void check_turns(WebhookId id);

  const Scenario& scenario_;
  const MemoryStore& durable_;
  const Timeline& timeline_;

  std::map<EventId, std::vector<WebhookId>> acknowledged_;  // With the webhooks they go to.
  std::set<DeliveryId> replayed_;
  std::unordered_set<DeliveryId> revived_;
  std::unordered_set<DeliveryId> attempts_due_;  // Revived, and not attempted since.
  std::unordered_set<DeliveryId> ambiguous_;
  std::unordered_set<DeliveryId> unsettled_;
  std::map<WebhookId, Webhook> known_webhooks_;
  std::map<WebhookId, std::vector<RetryPolicy>> policies_;  // All it ever had.
  std::unordered_map<DeliveryId, Flight> flights_;
  std::unordered_map<DeliveryId, MonoTime> admitted_at_;
  std::unordered_map<DeliveryId, MonoTime> ended_at_;
  std::unordered_map<DeliveryId, std::uint32_t> accepted_;
  std::map<WebhookId, Starts> starts_;
  std::map<TenantId, Starts> tenant_starts_;
  Starts all_starts_;
  MonoTime last_trouble_{};
  std::uint64_t ended_count_ = 0;
  /// In a crowd: how many attempts had ended when the webhook got its backlog or last started.
  std::map<WebhookId, std::uint64_t> waits_since_;
  std::optional<MonoTime> tried_at_;  // The first attempt to the healthy receiver.
  std::vector<std::string> violations_;
};

}  // namespace postrider::sim
