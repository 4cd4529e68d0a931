// A metric that is read when the metrics page is requested, for example from a store.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace postrider {

struct MetricSample {
  std::string name;
  std::string help;
  bool is_total = false;  // A counter; otherwise a gauge.
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

/// Samples of the same name are adjacent. Any thread.
using CollectSamples = std::function<std::vector<MetricSample>()>;

}  // namespace postrider
