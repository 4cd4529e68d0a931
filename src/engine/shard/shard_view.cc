#include <chrono>

#include "engine/shard/shard_state.h"

namespace postrider {
namespace {

struct Block {
  BlockReason reason = BlockReason::none;
  std::optional<WallTime> until;
};

/// wall_time_max means forever, which is not shown as a time.
std::optional<WallTime> shown(std::optional<WallTime> until) {
  return until && *until < wall_time_max ? until : std::nullopt;
}

WallTime to_wall(MonoTime at, Moment now) {
  return later(now.wall, std::chrono::ceil<Millis>(at - now.mono));
}

/// When all three buckets have a token.
std::optional<MonoTime> token_at(const ShardState& state, const Lane& lane, MonoTime now) {
  const std::optional<MonoTime> at = lane.rate_limited_until(now);
  return std::max(at, state.allowance.token_at(lane.tenant(), now));
}

bool slots_taken(const ShardState& state, const Lane& lane, const ReadyPriorities& ready) {
  const bool only_retries = ready.first_attempts.none();
  const SlotClaim claim =
      state.claim_of(lane, only_retries ? Candidates::all : Candidates::first_attempts);
  if (lane.slots_full() || state.hosts.waits(lane.index())) {
    return true;
  }
  const std::optional<SlotClaim> trial = only_retries ? std::nullopt : state.trial_of(lane);
  return state.allowance.slots_taken(lane.slot_use(), claim) &&
         (!trial || state.allowance.slots_taken(lane.slot_use(), *trial));
}

/// The first closed gate, in the order in which they are checked.
Block first_block(const ShardState& state, const Lane& lane, Moment now) {
  const Webhook& webhook = lane.webhook();
  if (const BlockReason reason = state.shard_block(); reason != BlockReason::none) {
    return {.reason = reason, .until = {}};
  }
  if (lane.stopped()) {
    return {.reason = BlockReason::drain, .until = {}};
  }
  if (lane.suspended()) {
    return {.reason = BlockReason::suspended, .until = {}};
  }
  if (!webhook.active) {
    return {.reason = BlockReason::inactive, .until = {}};
  }
  if (webhook.paused) {
    return {.reason = BlockReason::paused, .until = {}};
  }
  const std::optional<WallTime> circuit_at = lane.breaker().retry_at(webhook.breaker, now.wall);
  if (!circuit_at || *circuit_at > now.wall) {
    return {.reason = BlockReason::circuit, .until = shown(circuit_at)};
  }
  const WindowReadiness waiting = lane.window().readiness(now.wall);
  if (waiting.ready.all.none()) {
    return waiting.held_by_order ? Block{.reason = BlockReason::order, .until = waiting.next_due}
                                 : Block{};
  }
  if (slots_taken(state, lane, waiting.ready)) {
    return {.reason = BlockReason::slots, .until = {}};
  }
  if (const std::optional<MonoTime> at = token_at(state, lane, now.mono)) {
    return {.reason = BlockReason::rate,
            .until = *at < MonoTime::max() ? std::optional{to_wall(*at, now)} : std::nullopt};
  }
  return {};
}

}  // namespace

LaneView ShardState::view(const Lane& lane, Moment steady) const {
  const Block block = first_block(*this, lane, steady);
  LaneView view{.circuit = lane.breaker().record(),
                .calls = lane.breaker().window(lane.webhook().breaker, steady.wall),
                .blocked = block.reason,
                .blocked_until = block.until,
                .in_flight = lane.in_flight_ids(),
                .in_flight_limit = lane.in_flight_limit(),
                .window_count = static_cast<std::uint32_t>(lane.window().count()),
                .tokens = {}};
  if (const std::optional<TokenBucket>& bucket = lane.bucket()) {
    view.tokens = bucket->tokens(steady.mono);
  }
  return view;
}

}  // namespace postrider
