// News as server-sent events: `id`, `event` and one line of JSON.
#pragma once

#include <string>
#include <string_view>

#include "runtime/observability/stream_hub.h"

namespace postrider::api {

[[nodiscard]] std::string write_stream_event(const StreamPosition& place,
                                             const StreamEvent& stream_event);

/// Something about the stream itself, without an id: `reset`, `dropped`, `end`.
[[nodiscard]] std::string write_notice(std::string_view event, std::string_view detail);

}  // namespace postrider::api
