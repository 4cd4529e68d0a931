// Simulates several servers on one database, on a virtual clock: the real leases, engine, ShardHost
// and intake of every node; a model of the database, the network and the store threads; publishers,
// users and faults. The same seed gives the same run.
#pragma once

#include <functional>
#include <string>

#include "tests/simulation/cluster_scenario.h"
#include "tests/simulation/world.h"

namespace postrider::sim {

/// If `log` is set, it receives a line for everything that happens.
[[nodiscard]] RunResult run_cluster_world(const ClusterScenario& scenario,
                                          const std::function<void(const std::string&)>& log = {});

}  // namespace postrider::sim
