// A number that somebody else keeps, for the metrics page: read when it is asked for.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace postrider {

struct MetricSample {
  std::string name;
  std::string help;
  bool is_total = false;  // It only ever grows; otherwise it goes up and down.
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

/// Readings of one name stand next to each other. Any thread may ask.
using CollectSamples = std::function<std::vector<MetricSample>()>;

}  // namespace postrider
