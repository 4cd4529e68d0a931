// News as server-sent events: `id`, `event` and one line of JSON.
#pragma once

#include <string>
#include <string_view>

#include "runtime/stream_hub.h"

namespace postrider::api {

[[nodiscard]] std::string write_news(const StreamPlace& place, const News& news);

/// Something about the stream itself, without an id: `reset`, `dropped`, `end`.
[[nodiscard]] std::string write_notice(std::string_view event, std::string_view detail);

}  // namespace postrider::api
