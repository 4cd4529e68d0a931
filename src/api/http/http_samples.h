// The counters of the HTTP listeners as metric samples.
#pragma once

#include <vector>

#include "ports/metric_sample.h"

#include "api/http/http_server.h"

namespace postrider::api {

/// Sums over all listeners.
[[nodiscard]] std::vector<MetricSample> to_samples(
    const std::vector<HttpServerCounters>& listeners);

}  // namespace postrider::api
