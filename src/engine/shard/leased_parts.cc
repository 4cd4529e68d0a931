#include "engine/shard/leased_parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/assert.h"
#include "core/base/earliest.h"

namespace postrider {

bool LeasedParts::acquire(ShardEpoch lease) {
  POSTRIDER_ASSERT(leased_);
  Part& part = parts_[lease.shard];
  if (lease.epoch <= part.lost || lease.epoch <= part.epoch) {
    return false;
  }
  // A node takes a part again only after it has handed it back.
  POSTRIDER_ASSERT(part.stage == PartStage::absent);
  part.stage = PartStage::worked;
  part.epoch = lease.epoch;
  return true;
}

LeasedParts::Loss LeasedParts::lose(ShardEpoch lease, bool at_once) {
  POSTRIDER_ASSERT(leased_);
  Part& part = parts_[lease.shard];
  if (lease.epoch < part.lost || lease.epoch < part.epoch) {
    return Loss::ignored;
  }
  const bool is_first = lease.epoch > part.lost;
  part.lost = lease.epoch;
  switch (part.stage) {
    case PartStage::absent:
      return is_first ? Loss::not_here : Loss::ignored;
    case PartStage::worked:
      lost_.push_back(lease.shard);
      part.stage = PartStage::leaving;
      break;
    case PartStage::leaving:
    case PartStage::ending:
      if (!at_once || part.at_once) {
        return Loss::ignored;
      }
      break;
  }
  if (!at_once) {
    return Loss::begins;
  }
  part.stage = PartStage::ending;
  part.at_once = true;
  part.check_at.reset();
  return Loss::hurried;
}

void LeasedParts::end(ShardNumber shard) {
  POSTRIDER_ASSERT(is_leaving(shard));
  parts_[shard].stage = PartStage::ending;
}

std::vector<ShardNumber> LeasedParts::due(MonoTime now) const {
  std::vector<ShardNumber> found;
  std::ranges::copy_if(lost_, std::back_inserter(found), [&](ShardNumber shard) {
    return parts_[shard].check_at && *parts_[shard].check_at <= now;
  });
  return found;
}

std::optional<MonoTime> LeasedParts::next_due() const {
  std::optional<MonoTime> next;
  for (const ShardNumber shard : lost_) {
    next = earliest(next, parts_[shard].check_at);
  }
  return next;
}

std::vector<LeasedParts::Ended> LeasedParts::take_ended() {
  std::vector<Ended> ended;
  std::erase_if(lost_, [&](ShardNumber shard) {
    Part& part = parts_[shard];
    if (part.stage != PartStage::ending || !part.lanes.empty()) {
      return false;
    }
    part.stage = PartStage::absent;
    part.at_once = false;
    part.check_at.reset();
    Ended& each = ended.emplace_back(Ended{.shard = shard, .commands = {}});
    for (const auto& [webhook_id, early] : std::exchange(part.early, {})) {
      if (early.command) {
        each.commands.push_back(*early.command);
      }
    }
    return true;
  });
  return ended;
}

void LeasedParts::add_lane(ShardNumber shard, LaneIndex lane) {
  if (!leased_) {
    return;
  }
  positions_.resize(std::max<std::size_t>(positions_.size(), lane + 1));
  std::vector<LaneIndex>& lanes = parts_[shard].lanes;
  positions_[lane] = lanes.size();
  lanes.push_back(lane);
}

void LeasedParts::remove_lane(ShardNumber shard, LaneIndex lane) {
  if (!leased_) {
    return;
  }
  std::vector<LaneIndex>& lanes = parts_[shard].lanes;
  const std::size_t position = positions_[lane];
  POSTRIDER_ASSERT(position < lanes.size() && lanes[position] == lane);
  lanes[position] = lanes.back();
  positions_[lanes[position]] = position;
  lanes.pop_back();
}

void LeasedParts::came_early(WebhookId webhook_id, WallTime due) {
  const ShardNumber shard = shard_of(webhook_id);
  if (works(shard)) {
    std::optional<WallTime>& earliest = parts_[shard].early[webhook_id].due;
    earliest = std::min(earliest.value_or(due), due);
  }
}

bool LeasedParts::came_early(const CircuitCommanded& command) {
  Part& part = parts_[shard_of(command.webhook_id)];
  if (part.stage == PartStage::absent) {
    return false;
  }
  part.early[command.webhook_id].command = command;
  return true;
}

LeasedParts::Early LeasedParts::take_early(WebhookId webhook_id) {
  auto found = parts_[shard_of(webhook_id)].early.extract(webhook_id);
  return found.empty() ? Early{} : std::move(found.mapped());
}

}  // namespace postrider
