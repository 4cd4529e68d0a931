#include "tests/simulation/cluster_scenario.h"

#include <algorithm>
#include <chrono>

#include "core/base/random.h"

namespace postrider::sim {
namespace {

constexpr std::size_t receivers_max = 12;

}  // namespace

ClusterScenario make_cluster_scenario(std::uint64_t seed) {
  SplitMix64 random{seed ^ 0xc1u};
  ClusterScenario scenario{.base = make_scenario(seed), .leases = make_lease_scenario(seed)};
  scenario.leases.nodes = 2 + static_cast<std::uint32_t>(random.below(3));
  scenario.leases.trouble_time = std::chrono::seconds{30 + random.below(90)};
  scenario.leases.joins = std::min(scenario.leases.joins, 3u);
  Scenario& base = scenario.base;
  if (base.receivers.size() > receivers_max) {
    base.receivers.resize(receivers_max);
  }
  base.trouble_time = scenario.leases.trouble_time;
  // Limits of several webhooks hold per node. Notes are worked off by one node at a time.
  base.floods.clear();
  base.fanout = {};
  base.shard.leased = true;
  base.shard.host_in_flight_max.reset();
  base.shard.tenant_rate.reset();
  base.shard.total_rate.reset();
  base.shard_count = 1 + random.below(2);
  base.crashes = 0;  // Of nodes, as the leases' scenario says.
  base.drains = 0;
  base.clock_jumps = 0;
  for (Receiver& receiver : base.receivers) {
    if (random.below(3) == 0) {
      receiver.webhook.ordering = Ordering::strict;
    }
    if (random.below(4) == 0) {  // Attempts that do not end before the lease does.
      receiver.webhook.retry.timeout = std::chrono::seconds{20};
      receiver.behavior = Behavior::slow;
    }
  }
  scenario.webhooks_at_start = 1 + random.below(base.receivers.size());
  scenario.wall_skew_max = Millis{random.below(2) == 0 ? 0 : 30'000};
  return scenario;
}

}  // namespace postrider::sim
