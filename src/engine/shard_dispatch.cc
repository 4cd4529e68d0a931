#include <algorithm>
#include <array>

#include "core/assert.h"
#include "core/retry.h"
#include "engine/shard_state.h"

namespace postrider {
namespace {

// Memory is short: enough of each lane to keep its attempts going, the rest stays in the store.
constexpr std::uint32_t window_small = 8;

// Wall and monotonic time drift apart; looking once a day costs nothing and keeps sums from
// overflowing.
constexpr Micros alarm_ahead_max = std::chrono::hours{24};

}  // namespace

ShardState::ShardState(ShardOptions shard_options, std::uint64_t seed)
    : options(shard_options),
      random(seed),
      ids(SplitMix64{seed}.next()),
      tenants(shard_options.tenant_rate),
      book({.min = shard_options.store_retry_min, .max = shard_options.store_retry_max}),
      loads(shard_options.loads_max) {
  POSTRIDER_ASSERT(options.in_flight_max > 0);
  POSTRIDER_ASSERT(options.tenant_in_flight_max > 0);
  POSTRIDER_ASSERT(options.window_max > 0);
  POSTRIDER_ASSERT(options.unsettled_max > 0);
  POSTRIDER_ASSERT(options.loads_max > 0);
  // A reserve of everything would never let a retry start.
  options.first_attempt_reserve =
      std::min(options.first_attempt_reserve, options.in_flight_max - 1);
}

void ShardState::begin(Moment moment) {
  now = Moment{moment.steady, moment.mono};
  if (options.total_rate && !total_bucket) {
    total_bucket.emplace(*options.total_rate, now.mono);
  }
}

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

void ShardState::leave_tenant(TenantIndex index) {
  const Tenant& tenant = tenants.at(index);
  if (tenant.lanes == 1 && tenant.parked != Parked::no) {
    unpark(index, tenant.parked);  // The number may come to stand for somebody else.
  }
  tenants.leave(index);
}

void ShardState::ask_store_again() {
  for (Settlement& settlement : book.take_due(now.mono)) {
    commands.emplace_back(Settle{.settlement = std::move(settlement), .again = true});
  }
}

BlockReason ShardState::standstill() const {
  if (draining) {
    return BlockReason::drain;
  }
  const bool store_behind = book.store_down() || book.size() >= options.unsettled_max;
  return store_behind ? BlockReason::store : BlockReason::none;
}

Candidates ShardState::candidates() const {
  const std::uint32_t free = options.in_flight_max - totals.in_flight;
  return free > options.first_attempt_reserve ? Candidates::all : Candidates::first_attempts;
}

void ShardState::start_what_may_start() {
  total_token_at.reset();
  while (const std::optional<Turn> turn = next_turn()) {
    start(*turn);
  }
}

/// Parks the tenants that may not start anything until one is found that may.
std::optional<Turn> ShardState::next_turn() {
  if (standstill() != BlockReason::none || totals.in_flight >= options.in_flight_max) {
    return std::nullopt;
  }
  while (const std::optional<Turn> turn = share.next(candidates())) {
    if (tenant_may_start(turn->tenant)) {
      return total_may_start() ? turn : std::nullopt;
    }
  }
  return std::nullopt;
}

bool ShardState::tenant_may_start(TenantIndex index) {
  const Tenant& tenant = tenants.at(index);
  POSTRIDER_ASSERT(tenant.parked == Parked::no);
  if (tenant.in_flight >= options.tenant_in_flight_max) {
    park(index, Parked::slots);
    return false;
  }
  if (tenant.bucket && tenant.bucket->available_at(now.mono) > now.mono) {
    park(index, Parked::rate);
    tenant_agenda.set(index, tenant.bucket->available_at(now.mono));
    ++totals.rate_limited_total;
    return false;
  }
  return true;
}

bool ShardState::total_may_start() {
  if (!total_bucket || total_bucket->available_at(now.mono) <= now.mono) {
    return true;
  }
  total_token_at = total_bucket->available_at(now.mono);
  ++totals.rate_limited_total;
  return false;
}

void ShardState::start(const Turn& turn) {
  Lane& lane = lanes.at(turn.lane);
  Tenant& tenant = tenants.at(turn.tenant);
  const Candidates among = candidates();
  Entry* entry = lane.next(turn.priority, among, now.wall);
  POSTRIDER_ASSERT(entry != nullptr);

  // The last gate: a probe's place is taken only when nothing else can refuse.
  const BreakerPolicy& policy = lane.webhook().breaker;
  const bool agreed =
      with_circuit(lane, [&](Breaker& breaker) { return breaker.try_acquire(policy, now.wall); });
  if (!agreed) {
    look(lane);
    return;
  }
  share.take(turn, among);
  lane.start(*entry, now.mono);
  ++tenant.in_flight;
  ++totals.in_flight;
  const bool tenant_paid = !tenant.bucket || tenant.bucket->try_take(now.mono);
  const bool total_paid = !total_bucket || total_bucket->try_take(now.mono);
  POSTRIDER_ASSERT(tenant_paid && total_paid);
  const std::uint32_t tries = entry->delivery.budget_used + 1;
  commands.emplace_back(StartAttempt{.delivery = entry->delivery,
                                     .attempt_number = entry->delivery.attempt_count + 1,
                                     .timeout = attempt_timeout(lane.webhook().retry, tries)});
  look(lane);
}

void ShardState::give_back_slots(TenantIndex index, std::uint32_t count) {
  Tenant& tenant = tenants.at(index);
  POSTRIDER_ASSERT(tenant.in_flight >= count);
  tenant.in_flight -= count;
  if (tenant.parked == Parked::slots) {
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
  const bool done =
      draining && !drained && totals.in_flight == 0 && (book.size() == 0 || book.store_down());
  if (done) {
    drained = true;
    commands.emplace_back(Drained{});
  }
}

std::optional<MonoTime> ShardState::next_wake() const {
  if (draining) {
    return book.retry_at();
  }
  std::optional<MonoTime> wake = earliest(mono_agenda.next(), tenant_agenda.next());
  wake = earliest(wake, total_token_at);
  wake = earliest(wake, book.retry_at());
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
