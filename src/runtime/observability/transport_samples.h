// Connections to receivers, as readings for the metrics page.
#pragma once

#include <vector>

#include "ports/metric_sample.h"
#include "ports/transport.h"

namespace postrider {

/// Of all transports together.
[[nodiscard]] std::vector<MetricSample> to_samples(
    const std::vector<TransportCounters>& transports);

}  // namespace postrider
