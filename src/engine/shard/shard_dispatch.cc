#include <algorithm>
#include <array>
#include <utility>

#include "core/base/assert.h"
#include "core/policy/retry.h"
#include "engine/shard/shard_state.h"

namespace postrider {
namespace {

// Memory is short: enough of each lane to keep its attempts going, the rest stays in the store.
constexpr std::uint32_t window_small = 8;

// Wall and monotonic time drift apart; looking once a day costs nothing and keeps sums from
// overflowing.
constexpr Micros alarm_ahead_max = std::chrono::hours{24};

}  // namespace

ShardState::ShardState(ShardOptions shard_options, std::uint64_t seed, Allowance* shared)
    : options(shard_options),
      own_allowance(shared ? nullptr : make_own_allowance(limits_of(shard_options))),
      allowance(shared ? *shared : *own_allowance),
      random(seed),
      ids(SplitMix64{seed}.next()),
      pending({.min = shard_options.store_retry_min, .max = shard_options.store_retry_max}),
      loads(shard_options.loads_max) {
  POSTRIDER_ASSERT(options.window_max > 0);
  POSTRIDER_ASSERT(options.unsettled_max > 0);
  POSTRIDER_ASSERT(options.loads_max > 0);
}

void ShardState::begin(Moment moment) { now = Moment{moment.steady, moment.mono}; }

WindowBounds ShardState::bounds() const {
  const bool plenty = waiting_count < options.waiting_max;
  return {.now = now.wall,
          .count_max = plenty ? options.window_max : std::min(window_small, options.window_max),
          .load_ahead = options.load_ahead};
}

void ShardState::wake() {
  while (const std::optional<LaneIndex> lane = wall_agenda.pop_due(now.wall)) {
    lanes.touch(*lane);
  }
  while (const std::optional<LaneIndex> lane = mono_agenda.pop_due(now.mono)) {
    lanes.touch(*lane);
  }
  while (const std::optional<TenantIndex> tenant = tenant_agenda.pop_due(now.mono)) {
    unpark(*tenant, Parked::rate);
  }
}

void ShardState::look_at_touched() {
  for (const LaneIndex index : lanes.take_touched()) {
    Lane& lane = lanes.at(index);
    if (lane.removed() && lane.empty()) {
      discard(lane);
    } else {
      look(lane);
    }
  }
}

void ShardState::look(Lane& lane) {
  wake_circuit(lane);
  const LaneOutlook outlook = lane.look(now, bounds());
  POSTRIDER_ASSERT(lane.window().count() <= options.window_max);
  POSTRIDER_ASSERT(!outlook.wake_at || *outlook.wake_at > now.wall);
  POSTRIDER_ASSERT(!outlook.wake_mono_at || *outlook.wake_mono_at > now.mono);

  share.offer(lane.index(), outlook.offer);
  wall_agenda.set(lane.index(), outlook.wake_at);
  mono_agenda.set(lane.index(), outlook.wake_mono_at);
  if (outlook.load) {
    loads.want(lane.webhook().id);
  }
  totals.rate_limited_total += outlook.newly_rate_limited ? 1 : 0;
  count(lane);
}

/// Also when nothing waits: people and alerts go by its state.
void ShardState::wake_circuit(Lane& lane) {
  const BreakerPolicy& policy = lane.webhook().breaker;
  const std::optional<WallTime> at = lane.breaker().wakes_at(policy, now.wall);
  if (at && *at <= now.wall) {
    with_circuit(lane, [&](Breaker& breaker) { breaker.wake(policy, now.wall); });
  }
}

/// Replaces what the lane adds to the totals.
void ShardState::count(const Lane& lane) {
  if (lane.index() >= counted_.size()) {
    counted_.resize(lane.index() + 1);
  }
  Counted& counted = counted_[lane.index()];
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    const std::uint32_t waiting = lane.waiting()[priority];
    totals.waiting[priority] += waiting - counted.waiting[priority];
    waiting_count += waiting - counted.waiting[priority];
    counted.waiting[priority] = waiting;
  }
  const CircuitState circuit = lane.breaker().state();
  if (counted.present) {
    --totals.circuits[static_cast<std::size_t>(counted.circuit)];
  }
  ++totals.circuits[static_cast<std::size_t>(circuit)];
  counted.circuit = circuit;
  counted.present = true;
}

/// A removed lane in which nothing is left.
void ShardState::discard(Lane& lane) {
  const LaneIndex index = lane.index();
  count(lane);
  --totals.circuits[static_cast<std::size_t>(counted_[index].circuit)];
  counted_[index] = {};
  share.remove(index);
  wall_agenda.set(index, std::nullopt);
  mono_agenda.set(index, std::nullopt);
  leave_tenant(lane.tenant());
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
      unpark(index, tenant.parked);  // The number may come to stand for somebody else.
    }
    std::erase(kept_of, index);
    allowance.leave(index);
  }
  tenants.leave(index);
}

void ShardState::ask_store_again() {
  for (Settlement& settlement : pending.take_due(now.mono)) {
    if (Lane* lane = lanes.find(settlement.delivery.webhook_id)) {
      lane->plan_again(settlement.delivery, now.wall);
    }
    commands.emplace_back(Settle{.settlement = std::move(settlement), .again = true});
  }
}

BlockReason ShardState::standstill() const {
  if (draining) {
    return BlockReason::drain;
  }
  const bool store_behind = pending.store_down() || pending.size() >= options.unsettled_max;
  return store_behind ? BlockReason::store : BlockReason::none;
}

void ShardState::start_what_may_start() {
  total_token_at.reset();
  while (const std::optional<Start> chosen = next_start()) {
    start(*chosen);
  }
}

/// Parks the tenants that may not start anything until one is found that may.
std::optional<ShardState::Start> ShardState::next_start() {
  Candidates among = allowance.candidates();
  while (standstill() == BlockReason::none) {
    std::optional<Start> chosen = choose(among);
    if (!chosen && among == Candidates::first_attempts) {
      chosen = choose(Candidates::all);  // Retries ask in vain, but then they are told.
    }
    if (!chosen) {
      break;
    }
    const Delivery& delivery = chosen->entry->delivery;
    if (is_exhausted(lanes.at(chosen->turn.lane).webhook().retry, delivery)) {
      give_up(*chosen);
      continue;
    }
    const bool retry = is_retry(delivery);
    const Permit permit = allowance.take(
        chosen->turn.tenant, retry ? Candidates::all : Candidates::first_attempts, now.mono);
    if (permit.refused_by == Limit::none) {
      return chosen;
    }
    refused(chosen->turn.tenant, permit);
    if (permit.refused_by == Limit::total_slots && retry && among == Candidates::all) {
      among = Candidates::first_attempts;  // The reserve is for them.
    } else if (permit.refused_by == Limit::total_slots || permit.refused_by == Limit::total_rate) {
      return std::nullopt;  // What is kept for this shard stays so: it waits for the rest.
    }
  }
  forgo_slots();
  return std::nullopt;
}

std::optional<ShardState::Start> ShardState::choose(Candidates among) {
  const std::optional<Turn> turn = share.next(among);
  if (!turn) {
    return std::nullopt;
  }
  Entry* entry = lanes.at(turn->lane).next(turn->priority, among, now.wall);
  POSTRIDER_ASSERT(entry != nullptr);
  return Start{.turn = *turn, .among = among, .entry = entry};
}

void ShardState::refused(TenantIndex index, const Permit& permit) {
  switch (permit.refused_by) {
    case Limit::none:
      return;
    case Limit::total_slots:
      slot_refused = true;
      return;
    case Limit::total_rate:
      total_token_at = permit.again_at;
      ++totals.rate_limited_total;
      return;
    case Limit::tenant_slots:
      park(index, Parked::slots);
      return;
    case Limit::tenant_rate:
      park(index, Parked::rate);
      tenant_agenda.set(index, permit.again_at);
      ++totals.rate_limited_total;
      return;
  }
}

/// There is nothing to start: no slot is kept from others.
void ShardState::forgo_slots() {
  if (std::exchange(slot_refused, false)) {
    allowance.forgo();
  }
  for (const TenantIndex index : std::exchange(kept_of, {})) {
    if (tenants.at(index).parked != Parked::slots) {
      allowance.forgo(index);
    }
  }
}

void ShardState::start(const Start& chosen) {
  const Turn& turn = chosen.turn;
  Lane& lane = lanes.at(turn.lane);
  const BreakerPolicy& policy = lane.webhook().breaker;
  // A lane that offers something has a circuit that agrees, but for a policy that changed under its
  // probes. The tokens are lost then: fewer is within the limit.
  const bool agreed =
      with_circuit(lane, [&](Breaker& breaker) { return breaker.try_acquire(policy, now.wall); });
  if (!agreed) {
    allowance.give_back(turn.tenant, 1);
    look(lane);
    return;
  }
  share.take(turn, chosen.among);
  lane.start(*chosen.entry, now.mono);
  ++totals.in_flight;
  const Delivery& delivery = chosen.entry->delivery;
  commands.emplace_back(
      StartAttempt{.delivery = delivery,
                   .attempt_number = delivery.attempt_count + 1,
                   .timeout = attempt_timeout(lane.webhook().retry, delivery.budget_used + 1)});
  look(lane);
}

/// Its policy became stricter while it waited: it has had all its attempts.
void ShardState::give_up(const Start& chosen) {
  Lane& lane = lanes.at(chosen.turn.lane);
  Delivery delivery = chosen.entry->delivery;
  delivery.state = DeliveryState::dead_letter;
  delivery.due = now.wall;
  lane.give_up(*chosen.entry, delivery);
  settle({.delivery = std::move(delivery), .attempt = {}, .dead = attempts_exceeded()});
  look(lane);
}

void ShardState::give_back_slot(TenantIndex index) {
  POSTRIDER_ASSERT(totals.in_flight > 0);
  --totals.in_flight;
  allowance.give_back(index, 1);
  if (tenants.at(index).parked == Parked::slots) {
    unpark(index, Parked::slots);
  }
}

void ShardState::park(TenantIndex index, Parked why) {
  POSTRIDER_ASSERT(tenants.at(index).parked == Parked::no);
  tenants.at(index).parked = why;
  share.park(index);
}

void ShardState::unpark(TenantIndex index, Parked why) {
  POSTRIDER_ASSERT(tenants.at(index).parked == why && why != Parked::no);
  tenants.at(index).parked = Parked::no;
  tenant_agenda.set(index, std::nullopt);
  share.unpark(index);
}

void ShardState::ask_for_loads() {
  if (draining) {
    return;
  }
  while (const std::optional<WebhookId> webhook_id = loads.next()) {
    Lane* lane = lanes.find(*webhook_id);
    // It may have been paused or removed while it queued.
    if (lane && lane->wants_load(now, bounds())) {
      commands.emplace_back(lane->begin_load(bounds()));
    } else {
      loads.answered(*webhook_id);
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
  if (draining) {
    return pending.retry_at();
  }
  std::optional<MonoTime> wake = earliest(mono_agenda.next(), tenant_agenda.next());
  wake = earliest(wake, total_token_at);
  wake = earliest(wake, pending.retry_at());
  if (const std::optional<WallTime> due = wall_agenda.next()) {
    // Checked again when it rings: until then the steady wall may run slower or faster.
    const Micros wait = std::min<Micros>(*due - now.wall, alarm_ahead_max);
    wake = earliest(wake, std::optional{now.mono + wait});
  }
  return wake ? std::optional{std::min(*wake, now.mono + alarm_ahead_max)} : std::nullopt;
}

/// An alarm that is set earlier than needed stays: ringing once too often is cheaper than telling.
void ShardState::set_alarm() {
  const std::optional<MonoTime> wake = next_wake();
  if (wake && (!alarm_at || *wake < *alarm_at)) {
    alarm_at = wake;
    commands.emplace_back(SetAlarm{*wake});
  }
}

}  // namespace postrider
