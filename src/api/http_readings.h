// What the HTTP listeners count, as readings for the metrics page.
#pragma once

#include <vector>

#include "ports/reading.h"

#include "api/http_server.h"

namespace postrider::api {

/// Of all listeners together.
[[nodiscard]] std::vector<Reading> to_readings(const std::vector<HttpServerCounters>& listeners);

}  // namespace postrider::api
