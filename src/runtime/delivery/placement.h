// Which worker owns a webhook's lane.
#pragma once

#include <cstddef>

#include "core/base/ids.h"
#include "core/model/shard_number.h"

namespace postrider {

/// All webhooks of one leased part have the same worker.
[[nodiscard]] constexpr std::size_t worker_of(ShardNumber shard, std::size_t worker_count) {
  return shard % worker_count;
}
[[nodiscard]] constexpr std::size_t worker_of(WebhookId webhook_id, std::size_t worker_count) {
  return worker_of(shard_of(webhook_id), worker_count);
}

}  // namespace postrider
