// Simulates a cluster that shares shards by leases, on a virtual clock: the real NodeLeases on
// every node, and a model of the table of leases. Nodes are paused, cut off, crash, leave and join;
// messages are lost and late; clocks run at different rates. The same seed gives the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/simulation/lease_scenario.h"

namespace postrider::sim {

struct LeaseRunResult {
  std::uint64_t trace_hash = 0;
  std::vector<std::string> violations;
  std::uint64_t sends = 0;
  std::uint64_t takeovers = 0;  // Shards that changed their owner while there was trouble.
};

/// If `log` is set, it receives a line for everything that happens.
[[nodiscard]] LeaseRunResult run_lease_world(
    const LeaseScenario& scenario, const std::function<void(const std::string&)>& log = {});

}  // namespace postrider::sim
