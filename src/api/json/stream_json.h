// Writes stream events as server-sent events: `id`, `event` and one line of JSON.
#pragma once

#include <string>
#include <string_view>

#include "runtime/observability/stream_hub.h"

namespace postrider::api {

[[nodiscard]] std::string write_stream_event(const StreamPosition& position,
                                             const StreamEvent& stream_event);

/// Writes a notice about the stream itself, without an id: `reset`, `dropped` or `end`.
[[nodiscard]] std::string write_notice(std::string_view event, std::string_view detail);

}  // namespace postrider::api
