#include "tests/simulation/scenario.h"

#include <fmt/format.h>

namespace postrider::sim {
namespace {

using std::chrono::minutes;

std::uint32_t between(SplitMix64& random, std::uint32_t low, std::uint32_t high) {
  return low + static_cast<std::uint32_t>(random.below(high - low + 1));
}

bool one_in(SplitMix64& random, std::uint32_t count) { return random.below(count) == 0; }

RetryPolicy some_retry(SplitMix64& random) {
  RetryPolicy policy;
  policy.delay_base = Millis{between(random, 100, 2'000)};
  policy.delay_max = Millis{between(random, 5'000, 60'000)};
  policy.attempts_max = between(random, 2, 8);
  policy.timeout = Millis{between(random, 500, 3'000)};
  return policy;
}

BreakerPolicy some_breaker(SplitMix64& random) {
  BreakerPolicy policy = breaker_policy(static_cast<BreakerPreset>(random.below(3)));
  policy.enabled = !one_in(random, 4);
  policy.sleep_window = Millis{between(random, 500, 10'000)};
  policy.sleep_max = Millis{60'000};
  policy.minimum_throughput = between(random, 2, 10);
  return policy;
}

RateLimit some_rate(SplitMix64& random) {
  return {.count = between(random, 1, 20),
          .period = Millis{one_in(random, 2) ? 1'000 : 10'000},
          .burst = between(random, 1, 5)};
}

Receiver some_receiver(SplitMix64& random, std::uint32_t number) {
  Receiver receiver;
  Webhook& webhook = receiver.webhook;
  webhook.id.bytes[0] = static_cast<std::uint8_t>(random.below(256));  // Spread over the shards.
  webhook.id.bytes[15] = static_cast<std::uint8_t>(number);
  webhook.tenant_id = fmt::format("tenant-{}", random.below(3));
  webhook.url = receiver_url(random);
  webhook.events = {*EventPattern::parse(one_in(random, 3) ? "order.*" : "*")};
  webhook.retry = some_retry(random);
  webhook.breaker = some_breaker(random);
  webhook.max_in_flight = between(random, 1, 5);
  webhook.ordering = static_cast<Ordering>(random.below(3));
  if (one_in(random, 3)) {
    webhook.rate_limit = some_rate(random);
  }
  receiver.behavior = static_cast<Behavior>(random.below(behavior_count));
  receiver.edited = one_in(random, 2);
  return receiver;
}

/// In every scenario, so that P5 can be checked.
Receiver healthy_receiver(std::uint32_t number) {
  Receiver receiver;
  receiver.webhook.id.bytes[15] = static_cast<std::uint8_t>(number);
  receiver.webhook.tenant_id = "tenant-0";
  receiver.webhook.url = "https://healthy.example/";
  receiver.webhook.events = {*EventPattern::parse("*")};
  receiver.webhook.max_in_flight = 5;
  return receiver;
}

ShardOptions some_shard(SplitMix64& random) {
  ShardOptions options;
  if (one_in(random, 2)) {  // Small limits find bugs that large ones hide.
    options.window_max = between(random, 1, 8);
    options.waiting_max = between(random, 4, 64);
    options.loads_max = between(random, 1, 3);
    options.unsettled_max = between(random, 2, 16);
    options.load_ahead = Millis{between(random, 0, 5'000)};
  }
  if (one_in(random, 3)) {  // So few that shards must wait for them.
    options.in_flight_max = between(random, 1, 6);
    options.tenant_in_flight_max = between(random, 1, 4);
    options.first_attempt_reserve = between(random, 0, 2);
  }
  if (one_in(random, 3)) {
    options.host_in_flight_max = between(random, 1, 3);
  }
  if (one_in(random, 4)) {
    options.tenant_rate = some_rate(random);
  }
  if (one_in(random, 4)) {
    options.total_rate = some_rate(random);
  }
  return options;
}

/// Holds its slots as long as it can.
Receiver hostile_receiver(SplitMix64& random, std::uint32_t number, const TenantId& tenant_id) {
  Receiver receiver = some_receiver(random, number);
  receiver.webhook.tenant_id = tenant_id;
  receiver.webhook.events = {*EventPattern::parse("*")};
  receiver.webhook.retry.timeout = Millis{between(random, 5'000, 30'000)};
  receiver.webhook.breaker.enabled = one_in(random, 2);
  receiver.webhook.ordering = Ordering::none;
  receiver.webhook.rate_limit.reset();
  receiver.webhook.max_in_flight = one_in(random, 2) ? 1'000 : 5;
  receiver.behavior = one_in(random, 3) ? Behavior::trickling : Behavior::hanging;
  receiver.edited = false;
  return receiver;
}

/// Some hostile tenants, and hostile receivers beside the healthy one, flood few slots.
void add_hostility(SplitMix64& random, Scenario& scenario) {
  scenario.shard = ShardOptions{};
  scenario.shard.in_flight_max = between(random, 24, 96);
  scenario.shard.tenant_in_flight_max = scenario.shard.in_flight_max / 2;
  scenario.shard.first_attempt_reserve = scenario.shard.in_flight_max / 4;
  auto number = static_cast<std::uint32_t>(scenario.receivers.size());
  const std::uint32_t tenants = between(random, 0, 4);
  for (std::uint32_t tenant = 0; tenant < tenants; ++tenant) {
    const TenantId tenant_id = fmt::format("hostile-{}", tenant);
    for (std::uint32_t count = between(random, 1, 3); count > 0; --count) {
      scenario.receivers.push_back(hostile_receiver(random, ++number, tenant_id));
    }
    scenario.floods.push_back({tenant_id, between(random, 10, 60)});
  }
  for (std::uint32_t count = between(random, 0, 40); count > 0; --count) {
    scenario.receivers.push_back(hostile_receiver(random, ++number, "tenant-0"));
  }
  scenario.floods.push_back({"tenant-0", between(random, 2, 6)});
}

}  // namespace

std::string receiver_url(SplitMix64& random) {
  return fmt::format("https://receiver-{}.example/", random.below(3));
}

RetryPolicy another_retry(SplitMix64& random) {
  RetryPolicy policy = some_retry(random);
  if (one_in(random, 2)) {  // Much shorter, so that a wait by the old policy is noticed.
    policy.delay_base = Millis{between(random, 10, 100)};
    policy.delay_max = Millis{between(random, 200, 1'000)};
    policy.category_minimums = false;
  }
  policy.attempts_max = between(random, 1, 8);
  return policy;
}

Scenario make_scenario(std::uint64_t seed) {
  SplitMix64 random{seed};
  Scenario scenario;
  scenario.seed = seed;
  const std::uint32_t count = between(random, 2, 8);
  scenario.receivers.push_back(healthy_receiver(1));
  for (std::uint32_t number = 2; number <= count; ++number) {
    scenario.receivers.push_back(some_receiver(random, number));
  }
  scenario.event_count = between(random, 20, 120);
  scenario.trouble_time = minutes{between(random, 1, 10)};
  scenario.shard = some_shard(random);
  scenario.shard_count = between(random, 1, 3);
  scenario.payload_cache_bytes = one_in(random, 3) ? 1 : 1u << 20;  // One event, or all of them.
  scenario.commit_time_max = Millis{one_in(random, 2) ? 5 : 500};
  scenario.commit_fails = one_in(random, 2) ? 0 : between(random, 1, 100);
  scenario.commit_ambiguous = between(random, 0, 1'000);
  scenario.crashes = one_in(random, 3) ? 0 : between(random, 1, 6);
  scenario.drains = one_in(random, 2) ? 0 : between(random, 1, 3);
  scenario.clock_jumps = one_in(random, 2) ? 0 : between(random, 1, 5);
  scenario.changes = one_in(random, 3) ? 0 : between(random, 1, 40);
  if (one_in(random, 2)) {  // Most events get a note.
    scenario.fanout = {.event_max = between(random, 0, 2), .request_max = between(random, 0, 3)};
    scenario.fanout_step_max = between(random, 1, 4);
  }
  if (one_in(random, 4)) {
    add_hostility(random, scenario);
  }
  scenario.shortages = one_in(random, 2) ? 0 : between(random, 1, 300);
  return scenario;
}

Scenario make_crowded_scenario(std::uint64_t seed) {
  SplitMix64 random{seed};
  Scenario scenario;
  scenario.seed = seed;
  scenario.crowded = true;
  scenario.trouble_time = minutes{1};
  scenario.payload_cache_bytes = 1u << 20;
  scenario.commit_time_max = Millis{5};
  scenario.shard_count = 1;
  scenario.crashes = one_in(random, 3) ? 1 : 0;
  const std::uint32_t slots = between(random, 16, 32);
  scenario.shard.in_flight_max = slots;
  scenario.shard.tenant_in_flight_max = slots / 2;
  scenario.shard.first_attempt_reserve = slots / 4;
  const std::uint32_t tenants = one_in(random, 3) ? 1 : between(random, 2, slots);
  const std::uint32_t count = between(random, 2 * slots, 3 * slots);
  for (std::uint32_t number = 1; number <= count; ++number) {
    Receiver receiver = healthy_receiver(number);
    receiver.webhook.id.bytes[0] = static_cast<std::uint8_t>(random.below(256));
    receiver.webhook.tenant_id = fmt::format("crowd-{}", number % tenants);
    scenario.receivers.push_back(std::move(receiver));
  }
  for (std::uint32_t tenant = 0; tenant < tenants; ++tenant) {
    scenario.floods.push_back({fmt::format("crowd-{}", tenant), between(random, 60, 100)});
  }
  return scenario;
}

}  // namespace postrider::sim
