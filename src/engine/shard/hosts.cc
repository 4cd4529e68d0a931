#include "engine/shard/hosts.h"

#include "core/base/assert.h"

namespace postrider {

HostIndex Hosts::join(const std::string& name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    join(found->second);
    return found->second;
  }
  HostIndex index = static_cast<HostIndex>(hosts_.size());
  if (free_.empty()) {
    hosts_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  hosts_[index] = Host{.name = name, .users = 1, .waiting = {}, .turns = {}};
  by_name_.emplace(name, index);
  return index;
}

void Hosts::leave(HostIndex index) {
  Host& host = hosts_[index];
  POSTRIDER_ASSERT(host.users > 0);
  if (--host.users > 0) {
    return;
  }
  POSTRIDER_ASSERT(!has_waiters(index));
  by_name_.erase(host.name);
  free_.push_back(index);
}

const HostIndex* Hosts::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() ? &found->second : nullptr;
}

void Hosts::wait(HostIndex index, LaneIndex lane, Priority priority) {
  if (lane >= lanes_.size()) {
    lanes_.resize(lane + 1);
  }
  Member& member = lanes_[lane];
  const bool first = member.has_turn;
  if (waits(lane)) {
    if (member.priority == priority) {
      return;
    }
    waiting_.remove(ring_of(member), lane);
  }
  member = {.host = index, .priority = priority, .has_turn = false};
  RingHead& ring = ring_of(member);
  waiting_.push(ring, lane);
  if (first) {
    ring.item = lane;
  }
}

void Hosts::stop_waiting(LaneIndex lane) {
  if (waits(lane)) {
    waiting_.remove(ring_of(lanes_[lane]), lane);
  }
  if (lane < lanes_.size()) {
    lanes_[lane] = {};
  }
}

PrioritySet Hosts::available(HostIndex index) const {
  PrioritySet result;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    result[priority] = !hosts_[index].waiting[priority].empty();
  }
  return result;
}

LaneIndex Hosts::give_turn(HostIndex index) {
  Host& host = hosts_[index];
  const PrioritySet waiting = available(index);
  const std::size_t priority = host.turns.choose(waiting);
  host.turns.take(waiting, priority);
  const LaneIndex lane = host.waiting[priority].item;
  waiting_.remove(host.waiting[priority], lane);
  lanes_[lane].has_turn = true;
  return lane;
}

}  // namespace postrider
