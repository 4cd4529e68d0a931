// The parts into which the webhooks of a pool are divided. Each part is worked by one node.
#pragma once

#include <cstdint>

#include "core/base/ids.h"

namespace postrider {

/// Must not change: stored deliveries carry the number of their shard.
constexpr std::uint16_t shard_count = 256;

/// From 0 to shard_count - 1.
using ShardNumber = std::uint16_t;

[[nodiscard]] constexpr ShardNumber shard_of(WebhookId webhook_id) {
  return static_cast<ShardNumber>(stable_hash(webhook_id.bytes) % shard_count);
}

}  // namespace postrider
