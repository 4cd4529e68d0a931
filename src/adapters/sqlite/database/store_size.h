// The size of a store's files and the space that is left for them, as metric samples.
#pragma once

#include <filesystem>
#include <vector>

#include "ports/metric_sample.h"

namespace postrider {

/// `directory` is the data directory. What cannot be read is left out. Any thread.
[[nodiscard]] std::vector<MetricSample> store_size_samples(const std::filesystem::path& directory);

}  // namespace postrider
