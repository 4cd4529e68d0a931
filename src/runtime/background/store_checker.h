// Checks the store for damage, slowly and forever, on the reader threads. Damage raises an alert,
// and a complete pass without damage resolves it.
//
// Loop thread only unless noted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/time.h"
#include "ports/store_check.h"

#include "runtime/background/event_loop.h"
#include "runtime/observability/alert_sink.h"
#include "runtime/store/reader_pool.h"

namespace postrider {

/// Rows of one step. Bounds the time for which a reader thread is busy to a few milliseconds.
constexpr std::uint32_t check_step_rows = 200;

class StoreChecker {
 public:
  struct Parts {
    std::unique_ptr<StoreCheck> check;
    std::uint32_t rows_per_second = 0;  // Not zero.
    ReaderPool* readers = nullptr;      // Must outlive this object.
    AlertSink* alerts = nullptr;        // Must outlive this object.
  };

  explicit StoreChecker(Parts parts);

  /// Call once, on any thread. `loop` must outlive this object, and it and the readers must have
  /// stopped before this object is destroyed.
  void start(EventLoop& loop);

 private:
  void wait();
  void step();
  void finish(const Result<CheckStep>& step);

  Parts parts_;
  EventLoop* loop_ = nullptr;
  std::unique_ptr<EventLoop::Timer> timer_;
  std::uint64_t rows_ = 0;  // Of this pass.
  bool damaged_ = false;    // Damage was found in this pass.
};

}  // namespace postrider
