// How long a delivery took from the publish of its event to its success.
#pragma once

#include <optional>

#include "core/base/time.h"
#include "engine/shard/messages.h"

namespace postrider {

/// Retries and waiting included. None without a success, and none for a test, a replay or a
/// delivery that a user sent again: their time since the publish says nothing about this server.
/// By the wall clock, because the event may be older than the process; never negative.
[[nodiscard]] std::optional<Micros> delivered_after(const Settlement& settlement);

}  // namespace postrider
