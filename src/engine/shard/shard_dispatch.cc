#include <algorithm>
#include <array>
#include <utility>

#include "core/base/assert.h"
#include "core/base/earliest.h"
#include "core/policy/retry.h"
#include "engine/shard/shard_state.h"

namespace postrider {
namespace {

// The window when memory is short: enough to keep the attempts of a lane going.
constexpr std::uint32_t window_small = 8;
// A lane may take this part of the free room. Large windows need fewer reads, but one lane must not
// leave the others nothing.
constexpr std::uint32_t window_share = 8;

// Wall and monotonic time drift apart. Waking once a day costs nothing and prevents overflow.
constexpr Micros alarm_ahead_max = std::chrono::hours{24};

std::uint32_t trials_max(const Allowance& allowance) {
  return std::max(allowance.in_flight_max() / 64, 4u);
}

}  // namespace

ShardState::ShardState(ShardOptions shard_options, std::uint64_t seed, Allowance* shared)
    : options(shard_options),
      own_allowance(shared ? nullptr : make_local_allowance(limits_of(shard_options))),
      allowance(shared ? *shared : *own_allowance),
      random(seed),
      ids(SplitMix64{seed}.next()),
      parts(shard_options.leased),
      origins(trials_max(allowance)),
      pending({.min = shard_options.store_retry_min, .max = shard_options.store_retry_max}),
      loads(shard_options.loads_max) {
  POSTRIDER_ASSERT(options.window_max > 0);
  POSTRIDER_ASSERT(options.unsettled_max > 0);
  POSTRIDER_ASSERT(options.loads_max > 0);
}

void ShardState::begin_step(Moment moment) {
  now = Moment{moment.steady, moment.mono};
  origins.set_trials_max(trials_max(allowance));
}

WindowBounds ShardState::bounds() const {
  const std::uint32_t room = options.waiting_max - std::min(waiting_count, options.waiting_max);
  const std::uint32_t count = room / window_share;
  return {.now = now.wall,
          .count_max = std::min(std::max(count, window_small), options.window_max),
          .load_ahead = options.load_ahead};
}

void ShardState::wake_due_lanes() {
  while (const std::optional<LaneIndex> lane = wall_timers.pop_due(now.wall)) {
    lanes.touch(*lane);
  }
  while (const std::optional<LaneIndex> lane = mono_timers.pop_due(now.mono)) {
    lanes.touch(*lane);
  }
  while (const std::optional<TenantIndex> tenant = tenant_timers.pop_due(now.mono)) {
    unpark(*tenant);
  }
}

void ShardState::evaluate_touched_lanes() {
  for (const LaneIndex index : lanes.take_touched()) {
    Lane& lane = lanes.at(index);
    if (lane.stopped()) {
      lane.forget_waiting();
    }
    if ((lane.removed() || lane.stopped()) && lane.empty()) {
      remove_lane(lane);
    } else {
      evaluate(lane);
    }
  }
}

void ShardState::evaluate(Lane& lane) {
  wake_circuit(lane);
  LaneReadiness readiness = lane.evaluate(now, bounds());
  POSTRIDER_ASSERT(lane.window().count() <= options.window_max);
  POSTRIDER_ASSERT(!readiness.wake_at || *readiness.wake_at > now.wall);
  POSTRIDER_ASSERT(!readiness.wake_mono_at || *readiness.wake_mono_at > now.mono);

  if (readiness.newly_slow) {
    origins.attempt_slow(lane.origin());
  }
  update_host_wait(lane, readiness.ready);
  set_ready(lane, readiness.ready);
  wall_timers.set(lane.index(), readiness.wake_at);
  mono_timers.set(lane.index(), readiness.wake_mono_at);
  if (readiness.load) {
    loads.enqueue(lane.webhook().id);
  }
  if (readiness.newly_rate_limited) {
    count_rate_limited(lane.index());
  }
  update_totals(lane);
}

void ShardState::set_ready(const Lane& lane, const ReadyPriorities& ready) {
  const SlotRank rank = rank_of(lane);
  share.set_ready(lane.index(), ready, rank);
  ReadyPriorities trial;
  if (trial_of(lane)) {
    trial = {.all = ready.first_attempts, .first_attempts = ready.first_attempts};
  }
  trials.set_ready(lane.index(), trial, rank);
}

/// Also if nothing waits: views and alerts depend on the state of the circuit.
void ShardState::wake_circuit(Lane& lane) {
  const BreakerPolicy& policy = lane.webhook().breaker;
  const std::optional<WallTime> at = lane.breaker().wakes_at(policy, now.wall);
  if (at && *at <= now.wall) {
    with_circuit(lane, [&](Breaker& breaker) { breaker.wake(policy, now.wall); });
  }
}

/// Updates the lane's contribution to the totals.
void ShardState::update_totals(const Lane& lane) {
  if (lane.index() >= lane_totals_.size()) {
    lane_totals_.resize(lane.index() + 1);
  }
  LaneTotals& added = lane_totals_[lane.index()];
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    const std::uint32_t waiting = lane.waiting()[priority];
    totals.waiting[priority] += waiting - added.waiting[priority];
    waiting_count += waiting - added.waiting[priority];
    added.waiting[priority] = waiting;
  }
  const CircuitState circuit = lane.breaker().state();
  if (added.present) {
    --totals.circuits[static_cast<std::size_t>(added.circuit)];
  }
  ++totals.circuits[static_cast<std::size_t>(circuit)];
  added.circuit = circuit;
  added.present = true;
  count_for_tenant(lane, {.in_flight = lane.in_flight_count(),
                          .open_circuits = circuit == CircuitState::open ? 1 : 0});
}

/// Replaces what the lane contributes to its tenant.
void ShardState::count_for_tenant(const Lane& lane, const TenantLoad& load) {
  TenantLoad& added = lane_totals_[lane.index()].load;
  if (added == load) {
    return;
  }
  TenantLoad& change = tenant_load_changes[tenants.at(lane.tenant()).id];
  change.in_flight += load.in_flight - added.in_flight;
  change.open_circuits += load.open_circuits - added.open_circuits;
  added = load;
}

/// Removes a lane that is empty and that is not needed: its webhook was removed, or its part lost.
void ShardState::remove_lane(Lane& lane) {
  const LaneIndex index = lane.index();
  update_totals(lane);
  --totals.circuits[static_cast<std::size_t>(lane_totals_[index].circuit)];
  count_for_tenant(lane, {});
  lane_totals_[index] = {};
  share.remove(index);
  trials.remove(index);
  wall_timers.set(index, std::nullopt);
  mono_timers.set(index, std::nullopt);
  leave_tenant(lane.tenant());
  leave_host(lane);
  origins.leave(lane.origin());
  rate_reports.forget(index);
  parts.remove_lane(shard_of(lane.webhook().id), index);
  lanes.remove(lane);
}

TenantIndex ShardState::join_tenant(const TenantId& id) {
  const TenantIndex index = tenants.join(id);
  if (tenants.at(index).lanes == 1) {
    allowance.join(index, id, now.mono);
  }
  return index;
}

void ShardState::leave_tenant(TenantIndex index) {
  const Tenant& tenant = tenants.at(index);
  if (tenant.lanes == 1) {
    if (tenant.parked != Parked::no) {
      unpark(index);  // The index may be reused for another tenant.
    }
    std::erase(reserved_tenants, index);
    allowance.leave(index);
  }
  tenants.leave(index);
}

void ShardState::resubmit_settlements() {
  for (Settlement& settlement : pending.take_due(now.mono)) {
    if (Lane* lane = lanes.find(settlement.delivery.webhook_id)) {
      lane->reschedule(settlement.delivery, now.wall);
    }
    commands.emplace_back(Settle{.settlement = std::move(settlement), .is_resubmission = true});
  }
}

BlockReason ShardState::shard_block() const {
  if (draining) {
    return BlockReason::drain;
  }
  if (shortage.is_on(now.mono)) {
    return BlockReason::slots;
  }
  const bool store_behind = pending.store_down() || pending.size() >= options.unsettled_max;
  return store_behind ? BlockReason::store : BlockReason::none;
}

void ShardState::start_ready_deliveries() {
  total_again_at.reset();
  while (const std::optional<ChosenDelivery> chosen = next_delivery()) {
    start(*chosen);
  }
}

/// Finds the delivery to start next and takes its slot and tokens. Parks tenants that may not start
/// anything. If an attempt is refused a slot, those with more right to one may still get it.
std::optional<ShardState::ChosenDelivery> ShardState::next_delivery() {
  SlotRank among = allowance.candidates();
  bool last_choice = false;  // Nothing with more right to a slot is ready.
  while (shard_block() == BlockReason::none) {
    std::optional<ChosenDelivery> chosen = choose_trial();
    if (!chosen) {
      chosen = choose(among);
    }
    if (!chosen && give_host_turn()) {
      continue;
    }
    if (!chosen && among != widest_rank) {
      among = widest_rank;  // If refused, SlotReserved or the alarm follows later.
      last_choice = true;
      continue;
    }
    if (!chosen) {
      break;
    }
    if (update_rank(chosen->turn.lane)) {
      continue;
    }
    if (is_exhausted(lanes.at(chosen->turn.lane).webhook().retry, chosen->entry->delivery)) {
      give_up(*chosen);
      continue;
    }
    const Permit permit = take_slot(*chosen);
    if (permit.refused_by == Limit::none) {
      return chosen;
    }
    on_refused(*chosen, permit);
    const bool no_slot = permit.refused_by == Limit::total_slots;
    if (permit.refused_by == Limit::total_rate ||
        (no_slot && (last_choice || chosen->claim.trial || chosen->claim.rank == SlotRank::idle))) {
      return std::nullopt;  // Reserved slots stay reserved: this shard still needs them.
    }
    if (no_slot) {
      among = static_cast<SlotRank>(static_cast<std::uint8_t>(chosen->claim.rank) - 1);
    }
  }
  release_reserved_slots();
  return std::nullopt;
}

/// What is known about the lane's origin may have changed since the lane was evaluated.
bool ShardState::update_rank(LaneIndex index) {
  Lane& lane = lanes.at(index);
  if (share.rank(index) == rank_of(lane)) {
    return false;
  }
  evaluate(lane);
  return true;
}

/// While slots are scarce, webhooks that are not proven are tried first: the others take every slot
/// again as soon as they give it back (P5).
std::optional<ShardState::ChosenDelivery> ShardState::choose_trial() {
  const std::optional<SlotRank> among = allowance.trial_candidates();
  const std::optional<Turn> turn = among ? trials.next(*among) : std::nullopt;
  if (!turn) {
    return std::nullopt;
  }
  const Lane& lane = lanes.at(turn->lane);
  const SlotClaim ordinary = claim_of(lane, Candidates::first_attempts);
  const bool scarce =
      ordinary.rank > allowance.candidates() || allowance.slots_taken(lane.slot_use(), ordinary);
  const std::optional<SlotClaim> claim = scarce ? trial_of(lane) : std::nullopt;
  if (!claim) {
    return std::nullopt;
  }
  Entry* entry = lane.next(turn->priority, Candidates::first_attempts, now.wall);
  POSTRIDER_ASSERT(entry != nullptr);
  return ChosenDelivery{.turn = *turn, .among = *among, .entry = entry, .claim = *claim};
}

std::optional<ShardState::ChosenDelivery> ShardState::choose(SlotRank among) {
  const std::optional<Turn> turn = share.next(among);
  if (!turn) {
    return std::nullopt;
  }
  const Lane& lane = lanes.at(turn->lane);
  Entry* entry = lane.next(turn->priority, candidates_of(turn->widest), now.wall);
  POSTRIDER_ASSERT(entry != nullptr);
  const Candidates kind = is_retry(entry->delivery) ? Candidates::all : Candidates::first_attempts;
  return ChosenDelivery{
      .turn = *turn, .among = among, .entry = entry, .claim = claim_of(lane, kind)};
}

Permit ShardState::take_slot(const ChosenDelivery& chosen) {
  const Lane& lane = lanes.at(chosen.turn.lane);
  if (lane.host() != no_host && hosts.comes_later(lane.host(), lane.index())) {
    return {.refused_by = Limit::host_slots};
  }
  return allowance.take(lane.slot_use(), chosen.claim, now.mono);
}

void ShardState::on_refused(const ChosenDelivery& chosen, const Permit& permit) {
  const Turn& turn = chosen.turn;
  switch (permit.refused_by) {
    case Limit::none:
      return;
    case Limit::total_slots:
      slot_refused = true;
      if (permit.again_at != MonoTime{}) {
        total_again_at = earliest(total_again_at, std::optional{permit.again_at});
      }
      return;
    case Limit::total_rate:
      total_again_at = permit.again_at;
      count_rate_limited(turn.lane);
      return;
    case Limit::tenant_slots:
      park(turn.tenant, chosen.claim, permit.again_at);
      return;
    case Limit::host_slots:
      wait_for_host(lanes.at(turn.lane), turn.priority);
      return;
    case Limit::tenant_rate:
      park_for_rate(turn.tenant, permit.again_at);
      count_rate_limited(turn.lane);
      return;
  }
}

void ShardState::count_rate_limited(LaneIndex lane) {
  ++totals.rate_limited_total;
  rate_reports.add(lane, 1);
}

/// Nothing can start: reserved slots go to other shards.
void ShardState::release_reserved_slots() {
  if (std::exchange(slot_refused, false)) {
    allowance.release_reserved();
  }
  for (const TenantIndex index : std::exchange(reserved_tenants, {})) {
    if (tenants.at(index).parked != Parked::slots) {
      allowance.release_reserved(index);
    }
  }
  for (const HostIndex index : std::exchange(reserved_hosts, {})) {
    allowance.release_reserved_host(index);
  }
}

void ShardState::start(const ChosenDelivery& chosen) {
  const Turn& turn = chosen.turn;
  Lane& lane = lanes.at(turn.lane);
  const BreakerPolicy& policy = lane.webhook().breaker;
  // The circuit of a ready lane admits an attempt, unless its policy changed during probes. The
  // tokens are then lost, which stays within the limits.
  const bool admitted =
      with_circuit(lane, [&](Breaker& breaker) { return breaker.try_acquire(policy, now.wall); });
  if (!admitted) {
    allowance.give_back(lane.slot_use());
    open_host(lane.host());
    evaluate(lane);
    return;
  }
  (chosen.claim.trial ? trials : share).take(turn, chosen.among);
  lane.start(*chosen.entry, now.mono);
  origins.attempt_started(chosen.entry->origin, chosen.entry->unproven);
  use_host(lane);
  if (lane.bucket()) {
    rate_reports.add(lane.index(), 0);
  }
  const Delivery& delivery = chosen.entry->delivery;
  ++totals.in_flight;
  ++totals.in_flight_by_priority[static_cast<std::size_t>(delivery.priority)];
  commands.emplace_back(StartAttempt{
      .delivery = delivery,
      .attempt_number = delivery.attempt_count + 1,
      .timeout = std::min(attempt_timeout(lane.webhook().retry, delivery.budget_used + 1),
                          lane.caps().timeout)});
  evaluate(lane);
}

/// The retry policy became stricter while the delivery waited: its attempts are used up.
void ShardState::give_up(const ChosenDelivery& chosen) {
  Lane& lane = lanes.at(chosen.turn.lane);
  Delivery delivery = chosen.entry->delivery;
  delivery.state = DeliveryState::dead_letter;
  delivery.due = now.wall;
  lane.give_up(*chosen.entry, delivery);
  settle({.delivery = std::move(delivery), .attempt = {}, .dead = attempts_exceeded()});
  evaluate(lane);
}

/// `priority` is the one that the attempt was started with.
void ShardState::give_back_slot(const SlotUse& use, Priority priority) {
  POSTRIDER_ASSERT(totals.in_flight > 0);
  --totals.in_flight;
  --totals.in_flight_by_priority[static_cast<std::size_t>(priority)];
  allowance.give_back(use);
  if (tenants.at(use.tenant).parked == Parked::slots) {
    unpark(use.tenant);
  }
  stop_using_host(use.host);
}

void ShardState::park(TenantIndex index, const SlotClaim& refused, MonoTime again_at) {
  POSTRIDER_ASSERT(tenants.at(index).parked != Parked::rate);
  tenants.at(index).parked = Parked::slots;
  if (again_at != MonoTime{}) {
    tenant_timers.set(index, again_at);
  }
  (refused.trial ? trials : share).park(index, refused.rank);
}

void ShardState::park_for_rate(TenantIndex index, MonoTime again_at) {
  tenants.at(index).parked = Parked::rate;
  tenant_timers.set(index, again_at);
  share.park(index);
  trials.park(index);
}

void ShardState::unpark(TenantIndex index) {
  POSTRIDER_ASSERT(tenants.at(index).parked != Parked::no);
  tenants.at(index).parked = Parked::no;
  tenant_timers.set(index, std::nullopt);
  share.unpark(index);
  trials.unpark(index);
}

void ShardState::request_loads() {
  if (draining) {
    return;
  }
  while (const std::optional<WebhookId> webhook_id = loads.next()) {
    Lane* lane = lanes.find(*webhook_id);
    // The lane may have been paused or removed while it was queued.
    if (lane && lane->needs_load(now, bounds())) {
      commands.emplace_back(lane->begin_load(bounds()));
    } else {
      loads.finish(*webhook_id);
    }
  }
}

void ShardState::finish_drain() {
  const bool done = draining && !drained && totals.in_flight == 0 &&
                    (pending.size() == 0 || pending.store_down());
  if (done) {
    drained = true;
    commands.emplace_back(Drained{});
  }
}

std::optional<MonoTime> ShardState::next_wake() const {
  std::optional<MonoTime> wake = parts.next_due();
  if (draining) {
    return earliest(wake, pending.retry_at());
  }
  wake = earliest(wake, earliest(mono_timers.next(), tenant_timers.next()));
  wake = earliest(wake, total_again_at);
  if (shortage.is_on(now.mono)) {
    wake = earliest(wake, std::optional{shortage.until()});
  }
  wake = earliest(wake, pending.retry_at());
  if (const std::optional<WallTime> due = wall_timers.next()) {
    // Only an estimate, because steady wall time may run slower or faster. Checked again then.
    const Micros wait = std::min<Micros>(*due - now.wall, alarm_ahead_max);
    wake = earliest(wake, std::optional{now.mono + wait});
  }
  return wake ? std::optional{std::min(*wake, now.mono + alarm_ahead_max)} : std::nullopt;
}

/// An alarm that is too early is not replaced: a spurious one costs less than a command.
void ShardState::set_alarm() {
  const std::optional<MonoTime> wake = next_wake();
  if (wake && (!alarm_at || *wake < *alarm_at)) {
    alarm_at = wake;
    commands.emplace_back(SetAlarm{*wake});
  }
}

}  // namespace postrider
