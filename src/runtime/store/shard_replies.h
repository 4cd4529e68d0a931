// What one turn of the store thread sends back to the shards.
#pragma once

#include <functional>
#include <vector>

#include "engine/shard/shard.h"

#include "runtime/store/payload_cache.h"

namespace postrider {

/// The replies for one shard, in the order in which the store did the work.
struct ShardReplies {
  std::vector<EventRef> events;                    // Payloads of the Admitted deliveries.
  std::vector<Input> inputs;                       // For the shard, in order.
  std::vector<std::function<void()>> completions;  // Run on the shard's thread, after the inputs.

  [[nodiscard]] bool empty() const { return inputs.empty() && completions.empty(); }
};

/// Indexed by shard; a shard has the index of its worker.
using RepliesByShard = std::vector<ShardReplies>;

}  // namespace postrider
