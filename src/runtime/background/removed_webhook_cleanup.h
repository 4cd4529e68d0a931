// Cancels the waiting deliveries of removed webhooks, in small steps.
//
// Store thread only unless noted.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "ports/clock.h"

#include "runtime/observability/metrics.h"
#include "runtime/store/incremental_store_task.h"

namespace postrider {

/// Deliveries cancelled by one step. Bounds one transaction to a few milliseconds.
constexpr std::uint32_t cancel_step_max = 500;

class RemovedWebhookCleanup {
 public:
  /// All parameters must outlive this object.
  RemovedWebhookCleanup(const Clock& clock, StoreThread& store, Metrics& metrics);

  /// The webhook is unknown and may have waiting deliveries. They are cancelled unless the store
  /// has the webhook: another server may have added it. May also be called before the store thread
  /// starts.
  void add(WebhookId id) { task_.add(id); }

  /// `observe` is called after each step that has cancelled deliveries. Call before the first
  /// `add`.
  void on_cancelled(std::function<void()> observe) { observe_ = std::move(observe); }

  /// Resumes after a store failure. Call periodically.
  void resume() { task_.resume(); }

  /// Takes no further step; the next start of the server finds the rest. Any thread.
  void stop() { task_.stop(); }

 private:
  [[nodiscard]] Result<IncrementalStoreTask::Progress> step(WebhookId id, Store& store);

  const Clock& clock_;
  Metrics& metrics_;
  std::function<void()> observe_ = [] {};
  IncrementalStoreTask task_;
};

}  // namespace postrider
