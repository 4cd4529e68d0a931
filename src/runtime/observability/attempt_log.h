// One wide log line per attempt.
#pragma once

#include <string>
#include <string_view>

#include "engine/shard/shard.h"

namespace postrider {

/// `delivery.attempted delivery=… webhook=… …`. Never payloads, secrets or raw text from outside.
void log_attempt(const Settlement& settlement);

/// `text` with everything but printable ASCII replaced, quotes escaped and length bounded, so that
/// a tenant or receiver cannot forge log lines.
[[nodiscard]] std::string log_safe(std::string_view text, std::size_t length_max = 200);

}  // namespace postrider
