// The configuration of a simulated cluster with deliveries, made from a seed: webhooks, receivers
// and events as in a scenario of one server, and nodes and faults as in a scenario of leases.
#pragma once

#include <cstdint>

#include "tests/simulation/lease_scenario.h"
#include "tests/simulation/scenario.h"

namespace postrider::sim {

struct ClusterScenario {
  Scenario base;
  LeaseScenario leases;
  std::size_t webhooks_at_start = 0;  // Of the receivers. Users add the others later.
  Millis wall_skew_max{0};            // Between the wall clocks of the nodes.
};

/// Swarm testing: each seed disables some kinds of faults and makes others frequent.
[[nodiscard]] ClusterScenario make_cluster_scenario(std::uint64_t seed);

}  // namespace postrider::sim
