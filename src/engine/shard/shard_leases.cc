// Parts of the webhooks that are acquired from and lost to other nodes.
#include <vector>

#include "engine/shard/shard_state.h"

namespace postrider {

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
    case LeasedParts::Loss::hurried:
      break;
  }
  std::vector<DeliveryId> forgotten;
  for (const LaneIndex index : parts.lanes(shard)) {
    Lane& lane = lanes.at(index);
    lane.stop();
    if (input.at_once) {
      lane.forget_unsettled(forgotten);
    }
    touch(lane);
  }
  if (input.at_once) {
    pending.forget(forgotten);
    commands.emplace_back(EndAttempts{shard});
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
