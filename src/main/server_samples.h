// The metrics that main adds: the build and the process.
#pragma once

#include <vector>

#include "ports/metric_sample.h"

namespace postrider {

/// Any thread.
[[nodiscard]] std::vector<MetricSample> server_samples();

}  // namespace postrider
