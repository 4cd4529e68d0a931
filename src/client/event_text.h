// Writes an event as the JSON that the server accepts. Pure.
//
// The text is written once and repeated byte for byte, because the server compares repeated events
// by their bytes.
#pragma once

#include <string>
#include <vector>

#include <postrider/new_event.h>

#include "core/base/result.h"

namespace postrider::client {

/// `key` is the idempotency key. Fails with invalid, with a sentence, if the result would not be
/// JSON: one such event would make the server refuse its whole batch. The server checks the rest.
[[nodiscard]] Result<std::string> event_text(const NewEvent& event, const std::string& key);

}  // namespace postrider::client
