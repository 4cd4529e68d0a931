// The configuration of a run, made from a seed: which webhooks there are, and how likely each fault
// is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/model/webhook.h"
#include "engine/intake/intake.h"
#include "engine/shard/shard.h"

namespace postrider::sim {

enum class Behavior : std::uint8_t {
  healthy,        // 200, soon.
  flaky,          // 500 half of the time.
  slow,           // 200, sometimes too late.
  loses_answers,  // Accepts, but the answer is lost.
  hanging,        // Never answers.
  refusing,       // 404: permanent.
  throttling,     // 429 with Retry-After, a third of the time.
  trickling       // Ends just before the timeout, with 200 or without a complete response.
};
constexpr std::size_t behavior_count = 8;

struct Receiver {
  Webhook webhook;
  Behavior behavior = Behavior::healthy;
  bool edited = false;  // Users pause, edit and remove it and force its circuit.
};

/// Events that a hostile tenant, or a healthy one with hostile receivers, publishes at once.
struct Flood {
  TenantId tenant_id;
  std::uint32_t event_count = 0;
};

/// Chances are in per mille.
struct Scenario {
  std::uint64_t seed = 0;
  std::vector<Receiver> receivers;
  std::uint32_t event_count = 0;
  std::vector<Flood> floods;  // Hostile receivers and tenants try to take all slots.
  bool crowded = false;       // More healthy receivers with a backlog than slots.
  Micros trouble_time{0};     // How long faults happen. Afterwards every delivery must end.
  ShardOptions shard;
  std::size_t shard_count = 1;
  std::size_t payload_cache_bytes = 0;
  FanoutLimits fanout;                  // Events with more deliveries get a note.
  std::uint32_t fanout_step_max = 500;  // Deliveries made from notes at once.
  Millis commit_time_max{0};
  std::uint32_t commit_fails = 0;
  std::uint32_t commit_ambiguous = 0;  // The share of failed commits that are stored after all.
  std::uint32_t crashes = 0;           // In the whole run, like the next three.
  std::uint32_t drains = 0;
  std::uint32_t clock_jumps = 0;
  std::uint32_t shortages = 0;  // Of attempts, in per mille: the server lacks a resource.
  std::uint32_t changes = 0;    // By users: pause, resume, edit, remove, circuit, revive, cancel.
};

/// A retry policy that a user may set.
[[nodiscard]] RetryPolicy another_retry(SplitMix64& random);

/// The URL of a receiver. Few hosts, so that receivers share them.
[[nodiscard]] std::string receiver_url(SplitMix64& random);

/// Swarm testing: each seed disables some kinds of faults and makes others frequent.
[[nodiscard]] Scenario make_scenario(std::uint64_t seed);

/// More healthy receivers than slots, all with a backlog. One thread: between several, slots pass
/// in the order in which they become free, and no bound on the turns of a webhook is known.
[[nodiscard]] Scenario make_crowded_scenario(std::uint64_t seed);

}  // namespace postrider::sim
