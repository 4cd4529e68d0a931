// Simulates a server on a virtual clock: the real engine, ShardHost and intake; a model of the
// store thread and the network; publishers, users and faults. The same seed gives the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/time.h"

#include "tests/simulation/scenario.h"

namespace postrider::sim {

struct RunResult {
  std::uint64_t trace_hash = 0;  // Of all commands of all shards, in order.
  std::vector<std::string> violations;
  std::uint64_t attempts = 0;
  std::uint64_t acknowledged = 0;
  Micros virtual_time{0};
};

/// If `log` is set, it receives a line for everything that happens.
[[nodiscard]] RunResult run_world(const Scenario& scenario,
                                  const std::function<void(const std::string&)>& log = {});

}  // namespace postrider::sim
