// The log lines of an attempt and of a dead letter.
#pragma once

#include <string>
#include <string_view>

#include "engine/shard/messages.h"

namespace postrider {

/// Logs one line, `delivery.attempted delivery=… webhook=… …`. Never contains payloads, secrets or
/// unescaped foreign text. Does nothing for a settlement without an attempt.
void log_attempt(const Settlement& settlement);

/// Logs one line, `delivery.dead_letter …`, for a settlement that makes a dead letter.
void log_dead_letter(const Settlement& settlement);

/// Appends `text` cut to `length_max`, with quotes escaped and everything but printable ASCII
/// replaced, so that a tenant or receiver cannot forge log lines. `Out` has push_back().
template <class Out>
void append_log_safe(Out& out, std::string_view text, std::size_t length_max = 200) {
  for (const char character : text.substr(0, length_max)) {
    if (character == '"' || character == '\\') {
      out.push_back('\\');
    }
    out.push_back(character >= ' ' && character <= '~' ? character : '?');
  }
}

/// The same, as a string.
[[nodiscard]] std::string log_safe(std::string_view text, std::size_t length_max = 200);

}  // namespace postrider
