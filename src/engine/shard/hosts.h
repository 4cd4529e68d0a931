// The hosts that a shard's webhooks are on, if the requests to one host are limited: who uses a
// host, and which lanes wait for one of its slots.
//
// The waiting lanes of a host take turns: priorities share it 8:4:1, and within a priority the lane
// that waits longest comes first. A lane that has got its turn and is refused after all is the
// first again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/shard/allowance.h"
#include "engine/shard/fair_share.h"
#include "engine/shard/priority_turns.h"
#include "engine/shard/rings.h"

namespace postrider {

class Hosts {
 public:
  /// Call when a lane or an attempt starts to use the host. Gives the host a small index, which is
  /// reused after its last user has left.
  [[nodiscard]] HostIndex join(const std::string& name);
  void join(HostIndex index) { ++hosts_[index].users; }
  void leave(HostIndex index);

  [[nodiscard]] std::uint32_t users(HostIndex index) const { return hosts_[index].users; }
  [[nodiscard]] const std::string& name(HostIndex index) const { return hosts_[index].name; }
  /// Null if nobody uses the host.
  [[nodiscard]] const HostIndex* find(const std::string& name) const;

  /// The lane waits for a slot of the host, for deliveries of this and of less urgent priorities.
  void wait(HostIndex index, LaneIndex lane, Priority priority);
  /// The lane has started an attempt, or has nothing to start. It also loses its turn.
  void stop_waiting(LaneIndex lane);
  [[nodiscard]] bool waits(LaneIndex lane) const { return waiting_.contains(lane); }

  [[nodiscard]] bool has_waiters(HostIndex index) const { return available(index).any(); }
  /// The lane must wait, because others have waited longer.
  [[nodiscard]] bool comes_later(HostIndex index, LaneIndex lane) const {
    return has_waiters(index) && !has_turn(lane);
  }
  /// Gives the next lane its turn: it no longer waits. The host must have waiters.
  LaneIndex give_turn(HostIndex index);

 private:
  struct Host {
    std::string name;
    std::uint32_t users = 0;
    std::array<RingHead, priority_count> waiting;  // By priority.
    PriorityTurns turns;
  };
  struct Member {
    HostIndex host = no_host;
    Priority priority = Priority::normal;
    bool has_turn = false;
  };

  [[nodiscard]] PrioritySet available(HostIndex index) const;
  [[nodiscard]] bool has_turn(LaneIndex lane) const {
    return lane < lanes_.size() && lanes_[lane].has_turn;
  }
  [[nodiscard]] RingHead& ring_of(const Member& member) {
    return hosts_[member.host].waiting[static_cast<std::size_t>(member.priority)];
  }

  std::vector<Host> hosts_;
  std::vector<HostIndex> free_;
  std::unordered_map<std::string, HostIndex> by_name_;
  Rings waiting_;              // Lanes.
  std::vector<Member> lanes_;  // By lane.
};

}  // namespace postrider
