// How busy the connections of one role to the store are: how many are in use, how many requests
// wait for one, and how long they waited.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "ports/metric_sample.h"

#include "runtime/observability/latency_histogram.h"

namespace postrider {

/// What one meter shows. Plain values.
struct ConnectionUse {
  std::string role;  // `reader`, `writer`.
  std::size_t connections = 0;
  std::size_t in_use = 0;
  std::size_t waiting = 0;
  HistogramSample waits;  // In seconds.
};

/// Any thread.
class ConnectionMeter {
 public:
  /// `role` is a string literal.
  ConnectionMeter(const char* role, std::size_t connections)
      : role_(role), connections_(connections) {}

  void request_queued() { waiting_.fetch_add(1, std::memory_order_relaxed); }
  /// A connection begins to serve `requests` of the waiting requests. `waited`: how long the first
  /// of them has waited. `requests` may be 0.
  void use_begun(std::size_t requests, Micros waited) {
    waiting_.fetch_sub(requests, std::memory_order_relaxed);
    in_use_.fetch_add(1, std::memory_order_relaxed);
    if (requests > 0) {
      waits_.record(waited);
    }
  }
  void use_ended() { in_use_.fetch_sub(1, std::memory_order_relaxed); }

  [[nodiscard]] ConnectionUse use() const {
    return {.role = role_,
            .connections = connections_,
            .in_use = in_use_.load(std::memory_order_relaxed),
            .waiting = waiting_.load(std::memory_order_relaxed),
            .waits = waits_.sample()};
  }

 private:
  // From the wait of an idle store to the longest time that a request may take.
  static constexpr std::array<Micros, 12> bounds{
      Micros{100}, Micros{500}, Millis{1},   Millis{5},     Millis{10},    Millis{25},
      Millis{50},  Millis{100}, Millis{500}, Millis{1'000}, Millis{5'000}, Millis{30'000}};

  const char* role_;
  std::size_t connections_;
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> waiting_{0};
  LatencyHistogram waits_{bounds};
};

[[nodiscard]] std::vector<MetricSample> to_samples(const std::vector<ConnectionUse>& uses);

}  // namespace postrider
