// A world on a virtual clock: the real engine and intake, a modelled store and network, publishers,
// people, and faults. The same seed gives the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/time.h"

#include "tests/simulation/scenario.h"

namespace postrider::sim {

struct RunResult {
  std::uint64_t trace_hash = 0;  // Of every command of every shard, in order.
  std::vector<std::string> violations;
  std::uint64_t attempts = 0;
  std::uint64_t acknowledged = 0;
  Micros virtual_time{0};
};

/// `log` receives a line for everything that happens, when it is set.
[[nodiscard]] RunResult run_world(const Scenario& scenario,
                                  const std::function<void(const std::string&)>& log = {});

}  // namespace postrider::sim
