// A metric that is read when the metrics page is requested, for example from a store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace postrider {

struct HistogramSample {
  struct Bucket {
    double bound = 0;         // The largest value that it counts.
    std::uint64_t count = 0;  // With those of all lower buckets.
  };
  std::vector<Bucket> buckets;  // By bound. Larger values are in `count` only.
  std::uint64_t count = 0;
  double sum = 0;
};

struct MetricSample {
  std::string name;
  std::string help;
  bool is_total = false;  // A counter; otherwise a gauge.
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
  std::optional<HistogramSample> histogram = std::nullopt;  // If set, replaces `value`.
};

/// Samples of the same name are adjacent. Any thread.
using CollectSamples = std::function<std::vector<MetricSample>()>;

}  // namespace postrider
