// Parts of the webhooks that are acquired from and lost to other nodes.
#include <vector>

#include "engine/shard/shard_state.h"

namespace postrider {
namespace {

/// How often a leaving part is looked at.
constexpr Micros leaving_check = std::chrono::milliseconds{100};

/// An attempt in flight for longer than this keeps its part from ending: most receivers answer
/// within a fraction of it.
constexpr Micros quick_max = std::chrono::milliseconds{500};

/// The other lanes wait this long for the attempts of an ending part. Those that take longer are
/// ended, and the next owner repeats them.
constexpr Micros ending_max = slow_after;

}  // namespace

void ShardState::on(ShardAcquired& input) {
  parts.acquire({.shard = input.shard, .epoch = input.epoch});
}

void ShardState::on(ShardLost& input) {
  const ShardNumber shard = input.shard;
  const ShardEpoch lease{.shard = shard, .epoch = input.epoch};
  switch (parts.lose(lease, input.at_once)) {
    case LeasedParts::Loss::ignored:
      return;
    case LeasedParts::Loss::not_here:
      commands.emplace_back(ShardHandedBack{shard});
      return;
    case LeasedParts::Loss::begins:
      leave(shard);
      return;
    case LeasedParts::Loss::hurried:
      break;
  }
  std::vector<DeliveryId> forgotten;
  for (const LaneIndex index : parts.lanes(shard)) {
    Lane& lane = lanes.at(index);
    lane.stop();
    lane.forget_unsettled(forgotten);
    touch(lane);
  }
  pending.forget(forgotten);
  commands.emplace_back(EndAttempts{shard});
}

/// Stops the lanes whose attempts take long. When these are idle, stops the others.
void ShardState::leave(ShardNumber shard) {
  bool is_waited_for = false;
  for (const LaneIndex index : parts.lanes(shard)) {
    Lane& lane = lanes.at(index);
    if (!lane.stopped() && lane.holds_slots_long(now.mono - quick_max)) {
      lane.stop();
      touch(lane);
    }
    is_waited_for = is_waited_for || (lane.stopped() && !lane.empty());
  }
  if (is_waited_for) {
    parts.check_at(shard, now.mono + leaving_check);
    return;
  }
  parts.end(shard);
  parts.check_at(shard, now.mono + ending_max);
  for (const LaneIndex index : parts.lanes(shard)) {
    lanes.at(index).stop();
    touch(lanes.at(index));
  }
}

void ShardState::check_lost_parts() {
  for (const ShardNumber shard : parts.due(now.mono)) {
    if (parts.is_leaving(shard)) {
      leave(shard);
    } else {
      parts.check_at(shard, std::nullopt);
      commands.emplace_back(EndAttempts{shard});
    }
  }
}

void ShardState::finish_lost_parts() {
  for (const LeasedParts::Ended& ended : parts.take_ended()) {
    for (const CircuitCommanded& command : ended.commands) {
      commands.emplace_back(CircuitCommandReturned{command});
    }
    commands.emplace_back(ShardHandedBack{ended.shard});
  }
}

}  // namespace postrider
