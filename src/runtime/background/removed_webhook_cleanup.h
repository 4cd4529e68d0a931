// Cancels what still waits for webhooks that were removed, a little at a time.
//
// Belongs to the store thread, but for what has a comment of its own.
#pragma once

#include <cstdint>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "ports/clock.h"

#include "runtime/observability/metrics.h"
#include "runtime/store/incremental_store_task.h"

namespace postrider {

/// Some milliseconds of the store.
constexpr std::uint32_t cancelled_at_once = 500;

class RemovedWebhookCleanup {
 public:
  /// All outlive it.
  RemovedWebhookCleanup(const Clock& clock, StoreThread& store, Metrics& metrics);

  /// This one is gone, its deliveries perhaps not. Also before the store thread starts.
  void add(WebhookId id) { leaving_.add(id); }

  /// Goes on after the store has failed. To be said now and then.
  void go_on() { leaving_.go_on(); }

  /// Any thread. No further step; the next start finds what is left.
  void stop() { leaving_.stop(); }

 private:
  [[nodiscard]] Result<IncrementalStoreTask::Progress> step(WebhookId id, Store& store);

  const Clock& clock_;
  Metrics& metrics_;
  IncrementalStoreTask leaving_;
};

}  // namespace postrider
