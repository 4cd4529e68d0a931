// Which worker owns a webhook's lane.
#pragma once

#include <cstddef>

#include "core/base/ids.h"

namespace postrider {

[[nodiscard]] inline std::size_t worker_of(WebhookId webhook_id, std::size_t worker_count) {
  return static_cast<std::size_t>(stable_hash(webhook_id.bytes) % worker_count);
}

}  // namespace postrider
