// The configuration of a simulated cluster, made from a seed: how many nodes there are, and what
// goes wrong.
#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace postrider::sim {

/// Chances are in per mille. Numbers of faults are those of the whole run.
struct LeaseScenario {
  std::uint64_t seed = 0;
  std::uint32_t nodes = 1;  // At the start.
  Micros trouble_time{0};   // How long faults happen.
  double drift_max = 0;     // Clocks run this much faster or slower at most.
  std::uint32_t lost_requests = 0;
  std::uint32_t lost_answers = 0;
  std::uint32_t late_requests = 0;  // The database gets them after the node has given up.
  std::uint32_t late_answers = 0;   // Later answers are delayed as well.
  std::uint32_t pauses = 0;         // Of a node: it is stopped, and its clock is not.
  std::uint32_t partitions = 0;     // Between a node and the database.
  std::uint32_t outages = 0;        // Of the database.
  std::uint32_t crashes = 0;
  std::uint32_t leaves = 0;
  std::uint32_t joins = 0;
  std::uint32_t clock_jumps = 0;  // Of the database's clock, forward.
};

/// Swarm testing: each seed disables some kinds of faults and makes others frequent.
[[nodiscard]] LeaseScenario make_lease_scenario(std::uint64_t seed);

}  // namespace postrider::sim
