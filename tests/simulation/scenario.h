// What a seed makes of the world: how many webhooks of which kind, and how likely each fault is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/model/webhook.h"
#include "engine/shard/shard.h"

namespace postrider::sim {

enum class Manners : std::uint8_t {
  healthy,    // 200, soon.
  flaky,      // 500 now and then.
  slow,       // 200, sometimes too late.
  lying,      // Accepts, but the answer is lost.
  hanging,    // Never answers.
  refusing,   // 404: permanent.
  throttling  // 429 with Retry-After now and then.
};

struct Receiver {
  Webhook webhook;
  Manners manners = Manners::healthy;
  bool churned = false;  // Paused, changed and forced by people during the run.
};

/// Chances are per mille, per opportunity.
struct Scenario {
  std::uint64_t seed = 0;
  std::vector<Receiver> receivers;
  std::uint32_t event_count = 0;
  Micros trouble_time{0};  // How long faults go on. Then everything must come to rest.
  ShardOptions shard;
  std::size_t shard_count = 1;
  Millis commit_time_max{0};
  std::uint32_t commit_fails = 0;
  std::uint32_t commit_ambiguous = 0;  // Of the failed ones: how many are stored nevertheless.
  std::uint32_t crashes = 0;           // In the whole run, like the following.
  std::uint32_t drains = 0;
  std::uint32_t clock_jumps = 0;
  std::uint32_t changes = 0;  // By people: pause, resume, edit, remove, circuit, revive, cancel.
};

/// Swarm testing: each seed switches some faults off and turns others up.
/// What a person may change a webhook's to.
[[nodiscard]] RetryPolicy another_retry(SplitMix64& random);

[[nodiscard]] Scenario make_scenario(std::uint64_t seed);

}  // namespace postrider::sim
