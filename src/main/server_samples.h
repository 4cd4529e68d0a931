// The metrics that main adds: the build, the process and the files of the store.
#pragma once

#include <string>
#include <vector>

#include "ports/metric_sample.h"

namespace postrider {

/// `directory` is the data directory. Any thread.
[[nodiscard]] std::vector<MetricSample> server_samples(const std::string& directory);

}  // namespace postrider
