// The data of the event that tells a webhook about notifications, as
// core/model/system_event_types.h describes it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/notify/message_content.h"

namespace postrider {

/// A JSON object. `text`: the message for people.
[[nodiscard]] std::string event_data(const MessageFacts& facts, std::string_view text);

}  // namespace postrider
