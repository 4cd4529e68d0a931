// What the HTTP listeners count, as readings for the metrics page.
#pragma once

#include <vector>

#include "ports/metric_sample.h"

#include "api/http/http_server.h"

namespace postrider::api {

/// Of all listeners together.
[[nodiscard]] std::vector<MetricSample> to_samples(
    const std::vector<HttpServerCounters>& listeners);

}  // namespace postrider::api
