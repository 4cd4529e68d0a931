// Metric samples about connections to receivers.
#pragma once

#include <vector>

#include "ports/metric_sample.h"
#include "ports/transport.h"

namespace postrider {

/// Sums over all transports.
[[nodiscard]] std::vector<MetricSample> to_samples(
    const std::vector<TransportCounters>& transports);

}  // namespace postrider
