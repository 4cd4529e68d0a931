// The implementation of Shard. One step applies the input, wakes the lanes that are due, evaluates
// every touched lane, starts what may start, and collects the commands.
//
// shard_inputs.cc applies the inputs, shard_dispatch.cc starts deliveries and sets the alarm,
// shard_hosts.cc limits the requests to one host, shard_leases.cc acquires and hands back parts of
// the webhooks, shard_view.cc builds the views.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/ids.h"
#include "core/base/random.h"
#include "engine/shard/allowance.h"
#include "engine/shard/fair_share.h"
#include "engine/shard/hosts.h"
#include "engine/shard/lane_table.h"
#include "engine/shard/leased_parts.h"
#include "engine/shard/load_queue.h"
#include "engine/shard/origins.h"
#include "engine/shard/pending_settlements.h"
#include "engine/shard/rate_reports.h"
#include "engine/shard/shard.h"
#include "engine/shard/shortage_pause.h"
#include "engine/shard/slot_shares.h"
#include "engine/shard/tenants.h"
#include "engine/shard/timer_queue.h"

namespace postrider {

struct ShardState {
  /// `shared` is null if the limits are not shared.
  ShardState(ShardOptions shard_options, std::uint64_t seed, Allowance* shared = nullptr);

  // ------------------------------------------------------------ shard_inputs.cc

  void on(Admitted& input);
  void on(LaneLoaded& input);
  void on(LaneLoadFailed& input);
  void on(AttemptFinished& input);
  void on(AttemptAbandoned& input);
  void on(Settled& input);
  void on(StoreFailed& input);
  void on(WebhookChanged& input);
  void on(Rescheduled& input);
  void on(WebhookRemoved& input);
  void on(TenantSuspension& input);
  void on(TenantLimited& input);
  void on(DeliveryCancelled& input);
  void on(CircuitCommanded& input);
  void on(SlotReserved& input);
  void on(AlarmRang& input);
  void on(DrainRequested& input);

  // ------------------------------------------------------------ shard_dispatch.cc

  void begin_step(Moment moment);
  void wake_due_lanes();
  void evaluate_touched_lanes();
  void resubmit_settlements();
  void start_ready_deliveries();
  void request_loads();
  void finish_drain();
  void set_alarm();

  // ------------------------------------------------------------ shard_hosts.cc

  /// Follows the host of the webhook's URL, if requests to one host are limited.
  void update_host(Lane& lane);
  void leave_host(Lane& lane);
  /// A slot of the host is free, or was reserved for this shard.
  void open_host(HostIndex index);
  /// Removes the lane from its host's queue, or updates its place there. A lane that waits is not
  /// ready.
  void update_host_wait(const Lane& lane, ReadyPriorities& ready);

  // ------------------------------------------------------------ shard_leases.cc

  void on(ShardAcquired& input);
  void on(ShardLost& input);
  void check_lost_parts();
  void finish_lost_parts();

  // ------------------------------------------------------------ shard_view.cc

  [[nodiscard]] LaneView view(const Lane& lane, Moment steady) const;

  // ------------------------------------------------------------ used by several of these files

  /// Why nothing starts in the whole shard; `none` if deliveries may start.
  [[nodiscard]] BlockReason shard_block() const;
  [[nodiscard]] WindowBounds bounds() const;
  /// The rank of the lane's first attempts. So few slots that they are not shared out need none.
  [[nodiscard]] SlotRank rank_of(const Lane& lane) const {
    if (allowance.in_flight_max() < shared_slots_min) {
      return SlotRank::proven;
    }
    const SlotRank rank = lane.rank();
    return rank == SlotRank::unknown && origins.doubtful(lane.origin()) ? SlotRank::doubtful : rank;
  }
  /// The right to a slot of a first attempt or a retry.
  [[nodiscard]] SlotClaim claim_of(const Lane& lane, Candidates candidates) const {
    const SlotRank first = rank_of(lane);
    return {.candidates = candidates,
            .rank = candidates == Candidates::all ? std::max(first, SlotRank::retry) : first};
  }
  /// The right to a slot of the next trial, if the lane may have one: it is not proven and has
  /// nothing in flight.
  [[nodiscard]] std::optional<SlotClaim> trial_of(const Lane& lane) const {
    SlotClaim claim = claim_of(lane, Candidates::first_attempts);
    claim.trial = true;
    const bool unproven = claim.rank >= SlotRank::unknown;
    return unproven && lane.in_flight_count() == 0 ? std::optional{claim} : std::nullopt;
  }
  void touch(const Lane& lane) { lanes.touch(lane.index()); }

  /// Calls `change(breaker)` and emits the commands for a changed circuit.
  template <class Change>
  auto with_circuit(Lane& lane, Change change);
  void circuit_changed(const Lane& lane, const CircuitRecord& before);
  void save_circuit(const Lane& lane, const CircuitRecord& before);

  void settle(Settlement settlement);
  void give_back_slot(const SlotUse& use, Priority priority);

  ShardOptions options;
  std::unique_ptr<Allowance> own_allowance;  // Null if the limits are shared.
  Allowance& allowance;
  Moment now;  // Of the current step. `wall` is the steady time.
  SplitMix64 random;
  UuidGenerator ids;

  LaneTable lanes;
  LeasedParts parts;
  Tenants tenants;
  std::unordered_set<TenantId> suspended;                 // Also tenants without a lane.
  std::unordered_map<TenantId, WebhookCaps> tenant_caps;  // Other than options.caps.
  Hosts hosts;
  Origins origins;
  ShortagePause shortage;
  FairShare share;
  FairShare trials;  // The lanes that may have a trial. They are also in `share`.
  PendingSettlements pending;
  LoadQueue loads;

  TimerQueue<WallTime> wall_timers;        // Lanes, by steady wall time.
  TimerQueue<MonoTime> mono_timers;        // Lanes that wait for a token or a pause.
  TimerQueue<MonoTime> tenant_timers;      // Tenants that wait for a token or for their share.
  std::optional<MonoTime> total_again_at;  // When to ask again for a token or a slot of the total.
  bool slot_refused = false;  // A slot of the total was refused; one may be reserved since.
  std::vector<TenantIndex> reserved_tenants;  // Tenants with a reserved slot.
  std::vector<HostIndex> reserved_hosts;      // Hosts with a reserved slot.
  std::vector<HostIndex> open_hosts;          // Hosts that may have a slot for a waiting lane.
  std::optional<MonoTime> alarm_at;           // The current alarm.

  ShardView totals;
  RateReports rate_reports;
  TenantLoadChanges tenant_load_changes;
  std::uint32_t waiting_count = 0;  // The sum of totals.waiting.
  bool draining = false;
  bool drained = false;
  Commands commands;

 private:
  void leave(ShardNumber shard);
  void evaluate(Lane& lane);
  void set_ready(const Lane& lane, const ReadyPriorities& ready);
  void wake_circuit(Lane& lane);
  void update_totals(const Lane& lane);
  void count_for_tenant(const Lane& lane, const TenantLoad& load);
  void remove_lane(Lane& lane);
  [[nodiscard]] TenantIndex join_tenant(const TenantId& id);
  void leave_tenant(TenantIndex index);
  /// Skips the tenant's attempts that have no more right to a slot than `refused`: only trials if
  /// it was one, otherwise all others.
  void park(TenantIndex index, const SlotClaim& refused, MonoTime again_at);
  void park_for_rate(TenantIndex index, MonoTime again_at);
  void unpark(TenantIndex index);
  void cancel_unknown(Delivery delivery);
  void abandon(Lane& lane, const AttemptAbandoned& input);
  void disable(Lane& lane, const std::string& reason,
               std::optional<AlertMeasure> measure = std::nullopt);
  [[nodiscard]] Lane& lane_of(const WebhookChanged& input);
  void change_lane(Lane& lane, const std::shared_ptr<const Webhook>& changed);
  void move_lane(Lane& lane, const TenantId& tenant_id);
  /// Applies what holds for all webhooks of the lane's tenant.
  void apply_tenant_rules(Lane& lane);
  void apply(const CircuitCommanded& command, Lane& lane);
  void force_open_by_policy(Lane& lane, std::optional<WallTime> until_before);
  void shorten_open_time(Lane& lane);
  struct ChosenDelivery {
    Turn turn;
    SlotRank among = widest_rank;
    Entry* entry = nullptr;
    SlotClaim claim;
  };
  [[nodiscard]] std::optional<ChosenDelivery> next_delivery();
  [[nodiscard]] std::optional<ChosenDelivery> choose_trial();
  [[nodiscard]] std::optional<ChosenDelivery> choose(SlotRank among);
  [[nodiscard]] bool update_rank(LaneIndex index);
  [[nodiscard]] Permit take_slot(const ChosenDelivery& chosen);
  void on_refused(const ChosenDelivery& chosen, const Permit& permit);
  void count_rate_limited(LaneIndex lane);
  [[nodiscard]] bool give_host_turn();
  void wait_for_host(const Lane& lane, Priority priority);
  void use_host(const Lane& lane);
  void stop_using_host(HostIndex index);
  void release_reserved_slots();
  void start(const ChosenDelivery& chosen);
  void give_up(const ChosenDelivery& chosen);
  [[nodiscard]] std::optional<MonoTime> next_wake() const;

  /// The contribution of a lane to the totals.
  struct LaneTotals {
    std::array<std::uint32_t, priority_count> waiting{};
    CircuitState circuit = CircuitState::closed;
    bool present = false;
    TenantLoad load;  // The contribution to its tenant.
  };
  std::vector<LaneTotals> lane_totals_;  // By lane.
};

template <class Change>
auto ShardState::with_circuit(Lane& lane, Change change) {
  const CircuitRecord before = lane.breaker().record();
  if constexpr (std::is_void_v<decltype(change(lane.breaker()))>) {
    change(lane.breaker());
    circuit_changed(lane, before);
  } else {
    const auto result = change(lane.breaker());
    circuit_changed(lane, before);
    return result;
  }
}

}  // namespace postrider
