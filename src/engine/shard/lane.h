// Everything known about one webhook at run time: its policies, circuit, token bucket and standing,
// and its deliveries in memory.
//
// A lane decides for its webhook only. What lanes share (slots, rates, turns) is up to the shard.
// All wall times are steady wall times.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/webhook.h"
#include "core/policy/breaker.h"
#include "core/policy/token_bucket.h"
#include "core/policy/webhook_caps.h"
#include "engine/shard/entry.h"
#include "engine/shard/fair_share.h"
#include "engine/shard/lane_standing.h"
#include "engine/shard/messages.h"
#include "engine/shard/window.h"

namespace postrider {

/// What the lane can start now, and when to evaluate it again if nothing happens before.
struct LaneReadiness {
  ReadyPriorities ready;
  std::optional<WallTime> wake_at;
  std::optional<MonoTime> wake_mono_at;
  bool load = false;                // The lane needs a page from the store.
  bool newly_rate_limited = false;  // The bucket has run out of tokens.
  bool newly_slow = false;          // An attempt in flight takes long.
};

class Lane {
 public:
  using WebhookRef = std::shared_ptr<const Webhook>;

  Lane(LaneIndex index, TenantIndex tenant, WebhookRef webhook, MonoTime now);

  [[nodiscard]] LaneIndex index() const { return index_; }
  [[nodiscard]] TenantIndex tenant() const { return tenant_; }
  void move_to(TenantIndex tenant) { tenant_ = tenant; }
  /// The host of the webhook's URL; no_host if requests to hosts are not limited.
  [[nodiscard]] HostIndex host() const { return host_; }
  void move_to_host(HostIndex host) { host_ = host; }
  /// The origin of the webhook's URL.
  [[nodiscard]] OriginIndex origin() const { return origin_; }
  void move_to_origin(OriginIndex origin) { origin_ = origin; }
  [[nodiscard]] const Webhook& webhook() const { return *webhook_; }
  [[nodiscard]] const Breaker& breaker() const { return breaker_; }
  [[nodiscard]] Breaker& breaker() { return breaker_; }

  // ------------------------------------------------------------ webhook

  void change(WebhookRef webhook, MonoTime now);
  void empty_bucket(MonoTime now);
  /// The last attempt before a restart took this long.
  void restore_standing(Micros took) { standing_.restore(took); }
  /// Nothing starts any more. Attempts in flight are completed and not retried.
  void remove();
  [[nodiscard]] bool removed() const { return removed_; }
  /// Starts no attempt any more, because another node will work the webhook. Attempts in flight are
  /// completed, and the store keeps the waiting deliveries.
  void stop();
  /// Call when this node works the webhook again before the lane was removed.
  void resume() { stopped_ = false; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// Whether an attempt began before `at` and is in flight, or the latest ones took long.
  [[nodiscard]] bool holds_slots_long(MonoTime at) const;
  /// Removes the waiting deliveries from memory. The store still has them.
  void forget_waiting();
  /// Removes the deliveries from memory whose settlements are not known to be stored, and adds them
  /// to `forgotten`.
  void forget_unsettled(std::vector<DeliveryId>& forgotten);
  /// Nothing starts before this time.
  void hold_until(MonoTime at) { held_until_ = at; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// While its tenant is suspended nothing starts. Attempts in flight are completed.
  void set_suspended(bool suspended) { suspended_ = suspended; }
  [[nodiscard]] bool suspended() const { return suspended_; }
  /// The limits of its tenant's webhooks.
  void set_caps(const WebhookCaps& caps) { caps_ = caps; }
  [[nodiscard]] const WebhookCaps& caps() const { return caps_; }
  /// The webhook is being disabled. Returns true the first time since the webhook last changed.
  [[nodiscard]] bool mark_disabled() { return !std::exchange(disabled_, true); }

  // ------------------------------------------------------------ deliveries

  /// Adds a delivery that was just committed or revived. Replaces a waiting delivery; if it is in
  /// flight or unsettled, remembers the revival until that has ended.
  void admit(Delivery delivery, const WindowBounds& bounds);
  /// These waiting deliveries, in memory or only in the store, are now due earlier.
  void bring_forward(const std::vector<Delivery>& deliveries, const WindowBounds& bounds);
  /// Recomputes the due time of a settlement that was not stored, if the retry policy has changed
  /// since the attempt ended.
  void reschedule(Delivery& unsettled, WallTime now);
  void store_has_more(WallTime due) { window_->store_has_more(due); }

  [[nodiscard]] LoadLane begin_load(const WindowBounds& bounds);
  void end_load(LaneLoaded page, const WindowBounds& bounds, MonoTime now);
  void fail_load(MonoTime now);

  /// The delivery to start next; null if none is ready.
  [[nodiscard]] Entry* next(Priority priority, Candidates candidates, WallTime now) const;
  /// Takes a token and a slot of the lane. The circuit has already admitted the attempt.
  void start(Entry& entry, MonoTime now);
  [[nodiscard]] const Entry* in_flight(DeliveryId id) const;
  /// Gives up a waiting delivery; `is_now` is what the settlement makes of it.
  void give_up(Entry& entry, const Delivery& is_now);
  /// The attempt has ended; `is_now` is what the settlement makes of the delivery. `hung` as in
  /// LaneStanding.
  void finish(DeliveryId id, const Delivery& is_now, bool hung, MonoTime now);
  /// Nothing was sent. The delivery waits again after a pause. `draw` is uniform in [0, 1).
  void abandon(DeliveryId id, double draw, const WindowBounds& bounds);
  /// The settlement is stored.
  void settle(DeliveryId id, const WindowBounds& bounds);
  void cancel(DeliveryId id);
  /// The revival of a delivery in flight or unsettled.
  [[nodiscard]] std::optional<Revival> revival(DeliveryId id) const;

  // ------------------------------------------------------------ gates

  /// Checks the gates of the lane. Evicts the waiting deliveries if a gate stays closed.
  [[nodiscard]] LaneReadiness evaluate(Moment now, const WindowBounds& bounds);

  /// The lane needs a page from the store now.
  [[nodiscard]] bool needs_load(Moment now, const WindowBounds& bounds) const;
  /// A user has decided that nothing is sent.
  [[nodiscard]] bool closed() const {
    return removed_ || suspended_ || !webhook_->active || webhook_->paused;
  }
  [[nodiscard]] std::uint32_t max_in_flight() const {
    return std::min(webhook_->max_in_flight, caps_.in_flight);
  }
  [[nodiscard]] std::uint32_t in_flight_limit() const {
    return standing_.in_flight_max(max_in_flight());
  }
  [[nodiscard]] bool slots_full() const { return in_flight_count_ >= in_flight_limit(); }
  /// The rank of the lane's first attempts.
  [[nodiscard]] SlotRank rank() const { return standing_.rank(in_flight_count_); }
  /// The slot of the next attempt.
  [[nodiscard]] SlotUse slot_use() const {
    return {.tenant = tenant_, .host = host_, .unproven = !proven()};
  }
  [[nodiscard]] bool proven() const { return standing_.standing() == Standing::proven; }
  /// nullopt if there is a token.
  [[nodiscard]] std::optional<MonoTime> rate_limited_until(MonoTime now) const;

  // ------------------------------------------------------------ for views and counters

  [[nodiscard]] const Window& window() const { return *window_; }
  [[nodiscard]] const std::optional<TokenBucket>& bucket() const { return bucket_; }
  [[nodiscard]] std::vector<DeliveryId> in_flight_ids() const;
  [[nodiscard]] const std::array<std::uint32_t, priority_count>& waiting() const {
    return waiting_;
  }
  [[nodiscard]] std::uint32_t in_flight_count() const { return in_flight_count_; }
  /// Of those in flight, the ones with Entry::unproven.
  [[nodiscard]] std::uint32_t unproven_count() const;

 private:
  struct Load {
    Ordering ordering = Ordering::none;
    std::uint32_t limit = 0;
  };

  [[nodiscard]] Entry* find(DeliveryId id, EntryStage stage);
  void add(Delivery delivery, Arrival arrival, const WindowBounds& bounds);
  void enqueue(Entry& entry, Arrival arrival, const WindowBounds& bounds);
  void requeue(Entry& entry, const WindowBounds& bounds);
  void forget(Entry& entry);
  void change_ordering(Ordering ordering);
  [[nodiscard]] bool check_slow(MonoTime now);
  void check_load(Moment now, const WindowBounds& bounds, LaneReadiness& readiness) const;

  LaneIndex index_;
  TenantIndex tenant_;
  HostIndex host_ = no_host;
  OriginIndex origin_ = 0;
  WebhookRef webhook_;
  WebhookCaps caps_;
  Breaker breaker_;
  std::optional<TokenBucket> bucket_;
  LaneStanding standing_;
  std::optional<MonoTime> slow_check_at_;  // When an attempt in flight may have become slow.
  MonoTime held_until_ = MonoTime::min();
  bool removed_ = false;
  bool stopped_ = false;
  bool suspended_ = false;
  bool rate_limited_ = false;
  bool disabled_ = false;
  std::uint32_t schedule_ = 0;  // Incremented when the retry policy changes.

  std::unordered_map<DeliveryId, Entry> entries_;  // Iterated only where the order does not matter.
  std::unique_ptr<Window> window_;                 // The waiting ones.
  std::array<std::uint32_t, priority_count> waiting_{};
  std::uint32_t in_flight_count_ = 0;
  std::uint32_t unsettled_count_ = 0;

  std::optional<Load> load_;  // The load in progress.
  MonoTime load_not_before_ = MonoTime::min();
};

}  // namespace postrider
