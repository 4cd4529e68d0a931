// The metrics of this process under the names that Prometheus clients use: CPU, memory, files,
// start.
#pragma once

#include <vector>

#include "ports/metric_sample.h"

namespace postrider {

/// Reads /proc. What cannot be read is left out. Any thread.
[[nodiscard]] std::vector<MetricSample> process_samples();

}  // namespace postrider
