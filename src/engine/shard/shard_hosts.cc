// Limits the requests to one host: which lanes wait for a slot of their host, and who is next.
//
// A host is open from the moment when it may have a free slot until a slot is refused or no lane
// waits. While it is open, its waiting lanes get their turns one after the other. So every waiting
// lane is either behind an open host, or the allowance wakes this shard.
#include <algorithm>

#include "engine/shard/shard_state.h"
#include "engine/shard/stored_url.h"

namespace postrider {
namespace {

HostIndex join(Hosts& hosts, const std::string& url) {
  const Result<TargetUrl> target = parse_stored_url(url);
  return target ? hosts.join(target->host) : no_host;
}

/// The most urgent priority of a nonempty set.
Priority most_urgent(PrioritySet priorities) {
  std::size_t first = 0;
  while (!priorities[first]) {
    ++first;
  }
  return static_cast<Priority>(first);
}

}  // namespace

void ShardState::update_host(Lane& lane) {
  if (!options.host_in_flight_max) {
    return;
  }
  const HostIndex before = lane.host();
  const HostIndex host = join(hosts, lane.webhook().url);
  if (host != no_host && hosts.users(host) == 1) {
    allowance.join_host(host, hosts.name(host));
  }
  lane.move_to_host(host);
  if (host != before) {
    hosts.stop_waiting(lane.index());
  }
  stop_using_host(before);
}

void ShardState::leave_host(Lane& lane) {
  hosts.stop_waiting(lane.index());
  stop_using_host(lane.host());
}

/// An attempt of the lane starts.
void ShardState::use_host(const Lane& lane) {
  if (lane.host() != no_host) {
    hosts.join(lane.host());
    hosts.stop_waiting(lane.index());
    open_host(lane.host());  // There may be more slots. If not, the allowance must know who waits.
  }
}

/// A lane or an attempt no longer uses the host.
void ShardState::stop_using_host(HostIndex index) {
  if (index == no_host) {
    return;
  }
  if (hosts.users(index) == 1) {
    allowance.leave_host(index);
    std::erase(reserved_hosts, index);
    std::erase(open_hosts, index);
  } else {
    open_host(index);
  }
  hosts.leave(index);
}

void ShardState::open_host(HostIndex index) {
  if (index != no_host && hosts.has_waiters(index) &&
      std::ranges::find(open_hosts, index) == open_hosts.end()) {
    open_hosts.push_back(index);
  }
}

void ShardState::update_host_wait(const Lane& lane, ReadyPriorities& ready) {
  if (lane.host() == no_host) {
    return;
  }
  if (ready.all.none()) {
    hosts.stop_waiting(lane.index());
  } else if (hosts.waits(lane.index())) {
    hosts.wait(lane.host(), lane.index(), most_urgent(ready.all));
    ready = {};
  }
}

/// A slot was refused, or other lanes come first.
void ShardState::wait_for_host(const Lane& lane, Priority priority) {
  const HostIndex host = lane.host();
  if (!hosts.comes_later(host, lane.index())) {
    std::erase(open_hosts, host);  // Refused by the allowance, which now wakes this shard.
    std::erase(reserved_hosts, host);
  }
  hosts.wait(host, lane.index(), priority);
  set_ready(lane, {});
}

/// Lets the next lane try that waits for a slot of an open host. Returns false if there is none.
bool ShardState::give_host_turn() {
  while (!open_hosts.empty()) {
    const HostIndex host = open_hosts.back();
    if (hosts.has_waiters(host)) {
      evaluate(lanes.at(hosts.give_turn(host)));
      return true;
    }
    open_hosts.pop_back();
  }
  return false;
}

}  // namespace postrider
