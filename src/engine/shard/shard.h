// The sans-IO delivery engine. A shard owns the lanes of some webhooks: everything known about them
// at run time. It decides which deliveries are attempted, when, and what becomes of them.
//
// It reads no clock, performs no I/O, never blocks and never throws. All randomness comes from
// `seed`: the same seed and inputs give the same commands, which the simulation relies on.
// Single-threaded.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/shard_number.h"
#include "core/policy/token_bucket.h"
#include "engine/shard/messages.h"
#include "engine/shard/shard_view.h"

namespace postrider {

struct ShardOptions {
  // The first six apply to all shards together if they share an Allowance.
  std::uint32_t in_flight_max = 4096;          // All lanes together: sockets are finite.
  std::uint32_t tenant_in_flight_max = 2048;   // Half, so that one tenant cannot take all slots.
  std::uint32_t first_attempt_reserve = 1024;  // Slots that retries never take.
  std::optional<std::uint32_t> host_in_flight_max;  // To the webhooks of one host.
  std::optional<RateLimit> tenant_rate;             // Per tenant.
  std::optional<RateLimit> total_rate;              // All lanes together.
  std::uint32_t window_max = 1'024;      // Waiting deliveries of one lane held in memory.
  std::uint32_t waiting_max = 32'768;    // Of all lanes; near it, windows become small.
  std::uint32_t unsettled_max = 16'384;  // With more unconfirmed settlements nothing starts.
  std::uint32_t loads_max = 64;          // Concurrent LoadLane commands.
  Millis load_ahead{30'000};             // Deliveries due later than this stay in the store.
  Millis store_retry_min{100};           // Pause after a StoreFailed. Doubles each time …
  Millis store_retry_max{5'000};         // … up to this.
  /// A webhook whose attempts have all failed for this long is disabled. Zero: never.
  Millis disable_after = std::chrono::hours{24 * 5};
  WebhookCaps caps = {};  // Of every tenant without caps of its own.
  /// Whether webhooks are worked only from ShardAcquired to ShardLost of their part; several nodes
  /// share them then. Otherwise this process works them all, always.
  bool leased = false;
};

class Allowance;
struct ShardState;

class Shard {
 public:
  /// The limits apply to this shard alone.
  Shard(ShardOptions options, std::uint64_t seed);
  /// The limits are shared through `allowance`, which must outlive this object.
  Shard(ShardOptions options, std::uint64_t seed, Allowance& allowance);
  ~Shard();
  Shard(Shard&&) noexcept;
  Shard& operator=(Shard&&) noexcept;

  /// Processes one input. By value, because an outcome's bytes move into the settlement.
  [[nodiscard]] Commands step(Input input, Moment now);

  /// True between ShardAcquired and ShardLost, and always without leases.
  [[nodiscard]] bool works(ShardNumber shard) const;
  [[nodiscard]] bool has_lane(WebhookId webhook_id) const;
  /// Returns nullopt if the webhook has no lane.
  [[nodiscard]] std::optional<LaneView> view(WebhookId webhook_id, Moment now) const;
  [[nodiscard]] ShardView view() const;
  /// The webhooks whose rate limits were used, changed or reached since the last call.
  [[nodiscard]] std::vector<RateLimitUse> take_rate_limit_uses();
  /// How the tenants' loads changed since the last call. A lane counts for the current tenant of
  /// its webhook.
  [[nodiscard]] TenantLoadChanges take_tenant_load_changes();

 private:
  std::unique_ptr<ShardState> state_;
};

}  // namespace postrider
