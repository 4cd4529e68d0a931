// Everything known about one webhook at run time: its policies, circuit and bucket, the deliveries
// in memory and where each of them is.
//
// Decides for its webhook alone; what lanes share (slots of the shard, of the tenant, turns) is the
// shard's. All wall times are steady ones.
#pragma once

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
#include "engine/shard/entry.h"
#include "engine/shard/fair_share.h"
#include "engine/shard/shard.h"
#include "engine/shard/window.h"

namespace postrider {

/// What the lane would do now, and when it is worth looking again if nothing happens to it before.
struct LaneOutlook {
  Offer offer;
  std::optional<WallTime> wake_at;
  std::optional<MonoTime> wake_mono_at;
  bool load = false;                // Wants a page from the store.
  bool newly_rate_limited = false;  // Its bucket just made it wait.
};

class Lane {
 public:
  using WebhookRef = std::shared_ptr<const Webhook>;

  Lane(LaneIndex index, TenantIndex tenant, WebhookRef webhook, MonoTime now);

  [[nodiscard]] LaneIndex index() const { return index_; }
  [[nodiscard]] TenantIndex tenant() const { return tenant_; }
  void move_to(TenantIndex tenant) { tenant_ = tenant; }
  [[nodiscard]] const Webhook& webhook() const { return *webhook_; }
  [[nodiscard]] const Breaker& breaker() const { return breaker_; }
  [[nodiscard]] Breaker& breaker() { return breaker_; }

  // ------------------------------------------------------------ its webhook

  void change(WebhookRef webhook, MonoTime now);
  void empty_bucket(MonoTime now);
  /// Nothing starts any more; what is in flight runs to its end and is not tried again.
  void remove();
  [[nodiscard]] bool removed() const { return removed_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// It is being switched off. True the first time since the webhook last changed.
  [[nodiscard]] bool mark_gone() { return !std::exchange(gone_, true); }

  // ------------------------------------------------------------ its deliveries

  /// Committed just now, or revived. When the delivery is waiting here, this replaces it; when it
  /// is in flight or unsettled, the revival is remembered until that has ended.
  void admit(Delivery delivery, const WindowBounds& bounds);
  /// These wait, and are due earlier than before; here or in the store only.
  void bring_forward(std::vector<Delivery> deliveries, const WindowBounds& bounds);
  /// One whose settlement the store did not get may have been planned by an older schedule: it is
  /// due when the webhook's policy says now.
  void plan_again(Delivery& unsettled, WallTime now);
  void store_has_more(WallTime due) { window_->store_has_more(due); }

  [[nodiscard]] LoadLane begin_load(const WindowBounds& bounds);
  void end_load(LaneLoaded page, const WindowBounds& bounds, MonoTime now);
  void fail_load(MonoTime now);

  /// The delivery that goes next; null when the lane does not offer it.
  [[nodiscard]] Entry* next(Priority priority, Candidates candidates, WallTime now) const;
  /// Takes a token and a place. The circuit has agreed already.
  void start(Entry& entry, MonoTime now);
  [[nodiscard]] const Entry* in_flight(DeliveryId id) const;
  /// It waits and is not attempted any more; the store is asked to make it what it `is_now`.
  void give_up(Entry& entry, const Delivery& is_now);
  /// The attempt ended; the store is asked to make the delivery what it `is_now`.
  void finish(DeliveryId id, const Delivery& is_now);
  /// Nothing was sent. Back in line, after a pause.
  void abandon(DeliveryId id, const WindowBounds& bounds);
  /// The store has what came of the attempt.
  void settle(DeliveryId id, const WindowBounds& bounds);
  void cancel(DeliveryId id);
  /// Asked for again while in flight or unsettled.
  [[nodiscard]] std::optional<Revival> revival(DeliveryId id) const;

  // ------------------------------------------------------------ its gates

  /// Goes through the gates of the lane. Forgets what waits while they are closed for long.
  [[nodiscard]] LaneOutlook look(Moment now, const WindowBounds& bounds);

  /// Wants a page from the store, now.
  [[nodiscard]] bool wants_load(Moment now, const WindowBounds& bounds) const;
  [[nodiscard]] bool closed() const { return removed_ || !webhook_->active || webhook_->paused; }
  [[nodiscard]] bool slots_full() const { return in_flight_count_ >= webhook_->max_in_flight; }
  /// nullopt: there is a token.
  [[nodiscard]] std::optional<MonoTime> rate_limited_until(MonoTime now) const;

  // ------------------------------------------------------------ for people and counters

  [[nodiscard]] const Window& window() const { return *window_; }
  [[nodiscard]] const std::optional<TokenBucket>& bucket() const { return bucket_; }
  [[nodiscard]] std::vector<DeliveryId> in_flight_ids() const;
  [[nodiscard]] const std::array<std::uint32_t, priority_count>& waiting() const {
    return waiting_;
  }
  [[nodiscard]] std::uint32_t in_flight_count() const { return in_flight_count_; }

 private:
  struct Load {
    Ordering ordering = Ordering::none;
    std::uint32_t limit = 0;
  };

  [[nodiscard]] Entry* find(DeliveryId id, Place place);
  void add(Delivery delivery, Arrival arrival, const WindowBounds& bounds);
  void put_in_line(Entry& entry, Arrival arrival, const WindowBounds& bounds);
  void come_back(Entry& entry, const WindowBounds& bounds);
  void forget(Entry& entry);
  void let_go();
  void change_order(Ordering ordering);
  void look_for_load(Moment now, const WindowBounds& bounds, LaneOutlook& outlook) const;

  LaneIndex index_;
  TenantIndex tenant_;
  WebhookRef webhook_;
  Breaker breaker_;
  std::optional<TokenBucket> bucket_;
  bool removed_ = false;
  bool rate_limited_ = false;
  bool gone_ = false;
  std::uint32_t schedule_ = 0;  // Counts how often the retry policy was changed.

  std::unordered_map<DeliveryId, Entry> entries_;  // All it knows. Never iterated where it matters.
  std::unique_ptr<Window> window_;                 // Those that wait.
  std::array<std::uint32_t, priority_count> waiting_{};
  std::uint32_t in_flight_count_ = 0;
  std::uint32_t unsettled_count_ = 0;

  std::optional<Load> load_;  // The one that was asked for.
  MonoTime load_not_before_ = MonoTime::min();
};

}  // namespace postrider
