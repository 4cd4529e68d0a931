// What a lane or a shard is doing right now, for users and metrics. Plain structs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/event.h"
#include "core/policy/breaker.h"
#include "core/policy/token_bucket.h"

namespace postrider {

/// Why a lane starts no attempt. `none` if nothing holds it back.
enum class BlockReason : std::uint8_t {
  none,
  suspended,  // Its tenant is.
  paused,
  inactive,
  circuit,
  rate,
  slots,
  order,
  store,
  drain
};
[[nodiscard]] std::string_view to_string(BlockReason reason);

struct LaneView {
  CircuitRecord circuit;
  CallWindow calls;  // Of the circuit.
  BlockReason blocked = BlockReason::none;
  std::optional<WallTime> blocked_until;
  std::vector<DeliveryId> in_flight;
  std::uint32_t in_flight_limit = 0;  // max_in_flight, or fewer after attempts that hung.
  std::uint32_t window_count = 0;     // Waiting deliveries of this lane in memory.
  std::optional<double> tokens;       // In the webhook's own bucket.
};

using LaneViews = std::map<WebhookId, LaneView>;

struct ShardView {
  std::uint32_t lanes = 0;
  std::uint32_t in_flight = 0;
  std::array<std::uint32_t, priority_count> in_flight_by_priority{};
  std::uint32_t unsettled = 0;
  std::array<std::uint32_t, priority_count> waiting{};  // In memory, by priority.
  std::array<std::uint32_t, 3> circuits{};              // Lanes by CircuitState.
  std::uint64_t rate_limited_total = 0;                 // How often a bucket made a lane wait.
};

/// What the lanes of one tenant do, or how that changed.
struct TenantLoad {
  std::int64_t in_flight = 0;
  std::int64_t open_circuits = 0;

  bool operator==(const TenantLoad&) const = default;
};
using TenantLoadChanges = std::map<TenantId, TenantLoad>;

/// How a webhook used its rate limits since the last report.
struct RateLimitUse {
  WebhookId webhook_id;
  std::uint32_t hits = 0;             // How often any rate limit made it wait.
  std::optional<TokenBucket> bucket;  // Its own, if it has a rate limit.
};

}  // namespace postrider
