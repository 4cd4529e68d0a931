// What one turn of the store thread sends back to the shards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
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

/// Gives every shard its replies: calls `deliver(shard, ShardReplies)` and empties them. A
/// completion answers a caller, who may act at once. Therefore every shard gets its inputs before
/// any shard gets a completion.
template <class Deliver>
void deliver_replies(RepliesByShard& replies, const Deliver& deliver) {
  const auto answers = std::ranges::count_if(
      replies, [](const ShardReplies& each) { return !each.completions.empty(); });
  for (std::size_t shard = 0; shard < replies.size(); ++shard) {
    ShardReplies& all = replies[shard];
    const bool answers_alone = answers == 1 && !all.completions.empty();
    if (all.inputs.empty() || answers_alone) {
      continue;
    }
    deliver(shard, ShardReplies{.events = std::exchange(all.events, {}),
                                .inputs = std::exchange(all.inputs, {}),
                                .completions = {}});
  }
  for (std::size_t shard = 0; shard < replies.size(); ++shard) {
    if (!replies[shard].empty()) {
      deliver(shard, std::exchange(replies[shard], {}));
    }
  }
}

}  // namespace postrider
