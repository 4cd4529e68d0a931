// Counts the requests of the API by route, and how long they took.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"
#include "ports/metric_sample.h"

#include "runtime/observability/latency_histogram.h"

namespace postrider::api {

// From a read of what is in memory to a list that reads as many rows as it may.
inline constexpr std::array<Micros, 13> request_bounds{
    Micros{1'000},     Micros{2'500},     Micros{5'000},     Micros{10'000},  Micros{25'000},
    Micros{50'000},    Micros{100'000},   Micros{250'000},   Micros{500'000}, Micros{1'000'000},
    Micros{2'500'000}, Micros{5'000'000}, Micros{10'000'000}};

/// The requests of one method and path. Any thread.
class RouteMeter {
 public:
  RouteMeter(std::string_view method, std::string_view pattern)
      : method_(method), pattern_(pattern) {}

  void record(std::uint16_t status, Micros duration) {
    const std::size_t group = status / 100u;
    if (group < by_status_.size()) {
      by_status_[group].fetch_add(1, std::memory_order_relaxed);
    }
    durations_.record(duration);
  }

  [[nodiscard]] bool is_for(std::string_view method, std::string_view pattern) const {
    return method_ == method && pattern_ == pattern;
  }

  /// None for what no request has had yet.
  void add_counts(std::vector<MetricSample>& samples) const;
  void add_durations(std::vector<MetricSample>& samples) const;

 private:
  std::string method_;
  std::string pattern_;
  std::array<std::atomic<std::uint64_t>, 6> by_status_{};  // By the first digit.
  LatencyHistogram durations_{request_bounds};
};

/// Filled at start-up. After that, any thread.
class RouteMeters {
 public:
  /// The meter of the route, also if it was asked for before. Lives as long as this object.
  [[nodiscard]] RouteMeter& of(std::string_view method, std::string_view pattern);

  [[nodiscard]] std::vector<MetricSample> samples() const;

 private:
  std::deque<RouteMeter> meters_;  // Their addresses stay.
};

}  // namespace postrider::api
