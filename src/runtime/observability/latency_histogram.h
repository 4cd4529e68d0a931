// A histogram of durations in which all threads count. Counting takes two relaxed additions and no
// lock, so that it can be done for every request.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/time.h"
#include "ports/metric_sample.h"

namespace postrider {

/// Any thread.
class LatencyHistogram {
 public:
  /// `bounds` are ascending and must outlive this object.
  explicit LatencyHistogram(std::span<const Micros> bounds)
      : bounds_(bounds), counts_(bounds.size() + 1) {}

  void record(Micros duration) {
    const auto bucket = std::ranges::lower_bound(bounds_, duration) - bounds_.begin();
    counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
    sum_us_.fetch_add(duration.count(), std::memory_order_relaxed);
  }

  /// In seconds.
  [[nodiscard]] HistogramSample sample() const {
    HistogramSample sample;
    sample.buckets.reserve(bounds_.size());
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      sample.count += counts_[bucket].load(std::memory_order_relaxed);
      if (bucket < bounds_.size()) {
        sample.buckets.push_back({seconds(bounds_[bucket].count()), sample.count});
      }
    }
    sample.sum = seconds(sum_us_.load(std::memory_order_relaxed));
    return sample;
  }

 private:
  [[nodiscard]] static double seconds(Micros::rep micros) {
    return static_cast<double>(micros) / 1e6;
  }

  std::span<const Micros> bounds_;
  std::vector<std::atomic<std::uint64_t>> counts_;  // The last one: above all bounds.
  std::atomic<Micros::rep> sum_us_{0};
};

}  // namespace postrider
