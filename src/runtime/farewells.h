// Cancels what still waits for webhooks that were removed, a little at a time: a webhook may leave
// a million deliveries behind, and nobody else's may wait until they are all gone.
//
// Belongs to the store thread, but for what has a comment of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>

#include "core/ids.h"
#include "core/result.h"
#include "ports/clock.h"

#include "runtime/metrics.h"
#include "runtime/store_thread.h"

namespace postrider {

/// Some milliseconds of the store.
constexpr std::uint32_t cancelled_at_once = 500;

class Farewells {
 public:
  /// All outlive it.
  Farewells(const Clock& clock, StoreThread& store, Metrics& metrics)
      : clock_(clock), store_(store), metrics_(metrics) {}

  /// This one is gone, its deliveries perhaps not. Also before the store thread starts.
  void add(WebhookId id);

  /// Goes on after the store has failed. To be said now and then.
  void go_on();

  /// Any thread. No further step; the next start finds what is left.
  void stop() { stopped_ = true; }

 private:
  [[nodiscard]] Result<void> step(Store& store);

  const Clock& clock_;
  StoreThread& store_;
  Metrics& metrics_;
  std::set<WebhookId> leaving_;
  bool step_queued_ = false;
  std::atomic<bool> stopped_{false};
};

}  // namespace postrider
