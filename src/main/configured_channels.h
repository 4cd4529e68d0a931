// Stores the notification channels of the configuration when the server starts, with their
// webhooks, and removes those that are no longer configured.
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/crypto.h"
#include "ports/store.h"

#include "config/config.h"

namespace postrider {

struct ChannelMaking {
  const Crypto& crypto;
  UuidGenerator& ids;
  WallTime now;
};

/// One transaction. A channel is found again by its name and kind; what has not changed is not
/// written. Call before the node loads its channels and webhooks.
[[nodiscard]] Result<void> store_configured_channels(Store& store, const config::Config& config,
                                                     const ChannelMaking& making);

}  // namespace postrider
