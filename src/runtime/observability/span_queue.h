// Hands spans to the exporter in batches, on a thread of its own. Bounded: while the collector is
// away or slow, spans are dropped and counted, and nothing else waits for it.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/time.h"
#include "core/trace/span.h"
#include "ports/metric_sample.h"
#include "ports/span_exporter.h"

namespace postrider {

struct SpanQueueOptions {
  std::size_t spans_max = 8'192;  // About 8 MB.
  std::size_t batch_max = 512;
  Millis period{1'000};  // Between batches that are not full.
  Millis timeout{10'000};
  std::uint32_t tries_max = 5;  // Of one batch.
  Millis retry_delay_min{1'000};
  Millis retry_delay_max{30'000};
  Millis stop_timeout{2'000};  // For the last spans.
};

enum class SpanDrop : std::uint8_t { queue_full, unavailable, refused, stopped };
constexpr std::size_t span_drop_count = 4;

struct SpanCounts {
  std::uint64_t exported = 0;
  std::array<std::uint64_t, span_drop_count> dropped{};  // By SpanDrop.
  std::size_t waiting = 0;
};

/// For the metrics page, also if nothing is traced.
[[nodiscard]] std::vector<MetricSample> to_samples(const SpanCounts& counts);

class SpanQueue {
 public:
  SpanQueue(SpanQueueOptions options, std::unique_ptr<SpanExporter> exporter);
  ~SpanQueue();
  SpanQueue(const SpanQueue&) = delete;
  SpanQueue& operator=(const SpanQueue&) = delete;

  /// Starts the thread. Call once.
  void start();
  /// Sends what is queued, for at most `stop_timeout`, and ends the thread.
  void stop();

  /// Any thread. Drops the spans if the queue is full.
  void add(std::vector<Span> spans);

  /// Any thread. False: what is added now is dropped. Saves making the spans.
  [[nodiscard]] bool has_room() const {
    return size_.load(std::memory_order_relaxed) < options_.spans_max;
  }
  /// Any thread. Counts spans that were not made because there was no room.
  void drop(std::size_t count) { count_dropped(SpanDrop::queue_full, count); }

  /// Any thread.
  [[nodiscard]] SpanCounts counts() const;

  /// Sends one batch, if there is one. Returns how long to wait before the next step. For the
  /// thread, and for tests without one.
  [[nodiscard]] Millis step();

 private:
  void run();
  void send_the_rest();
  /// False: there is nothing to send.
  [[nodiscard]] bool has_batch();
  void on_accepted(const ExportReceipt& receipt);
  /// Returns how long to wait before the next step.
  [[nodiscard]] Millis on_failed(const ExportFailure& failure);
  void drop_batch(SpanDrop why);
  void count_dropped(SpanDrop why, std::size_t count) {
    dropped_[static_cast<std::size_t>(why)].fetch_add(count, std::memory_order_relaxed);
  }

  const SpanQueueOptions options_;
  std::unique_ptr<SpanExporter> exporter_;

  // The thread's own.
  std::vector<Span> batch_;  // Kept until it is accepted or dropped.
  std::uint32_t tries_ = 0;  // Of batch_.
  Millis retry_delay_{0};    // Before the last retry; 0: there was none.
  bool is_failing_ = false;  // The last batch was not accepted.

  std::atomic<std::size_t> size_{0};  // Of queue_.
  std::atomic<std::uint64_t> exported_{0};
  std::array<std::atomic<std::uint64_t>, span_drop_count> dropped_{};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Span> queue_;  // Guarded by mutex_, as are the members below.
  bool is_stopping_ = false;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace postrider
