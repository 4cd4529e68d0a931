// The log line of an attempt.
#pragma once

#include <string>
#include <string_view>

#include "engine/shard/messages.h"

namespace postrider {

/// Logs one line, `delivery.attempted delivery=… webhook=… …`. Never contains payloads, secrets or
/// unescaped foreign text. Does nothing for a settlement without an attempt.
void log_attempt(const Settlement& settlement);

/// Returns `text` cut to `length_max`, with quotes escaped and everything but printable ASCII
/// replaced, so that a tenant or receiver cannot forge log lines.
[[nodiscard]] std::string log_safe(std::string_view text, std::size_t length_max = 200);

}  // namespace postrider
