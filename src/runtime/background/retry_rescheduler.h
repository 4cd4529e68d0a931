// Moves waiting deliveries to the due time that a changed retry policy gives them, in small steps.
//
// Store thread only unless noted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "ports/clock.h"
#include "ports/ledger.h"

#include "runtime/admin/admin_changes.h"
#include "runtime/store/incremental_store_task.h"

namespace postrider {

/// Deliveries visited by one step. Bounds one transaction to a few milliseconds.
constexpr std::uint32_t reschedule_step_max = 500;

class RetryRescheduler {
 public:
  /// All parameters must outlive this object.
  RetryRescheduler(const Clock& clock, StoreThread& store, const AdminChanges& changes);

  /// Starts from the first delivery, with the webhook's current policy. May also be called before
  /// the store thread starts.
  void add(WebhookId id);
  /// Adds the webhooks whose times come from a clock that was set back since: their retries keep
  /// their delay and not their date (P9).
  void add_from_the_future(std::span<const LaneBacklog> lanes);
  /// Calls `add` on the store thread, after the jobs that are queued now. Any thread.
  void add_later(WebhookId id);

  /// Resumes after a store failure. Call periodically.
  void resume() { task_.resume(); }

  /// Takes no further step; the next start of the server continues with the marked webhooks. Any
  /// thread.
  void stop() { task_.stop(); }

 private:
  [[nodiscard]] Result<IncrementalStoreTask::Progress> step(WebhookId id, Store& store,
                                                            RepliesByShard& replies);

  const Clock& clock_;
  StoreThread& store_;
  const AdminChanges& changes_;
  std::map<WebhookId, LaneCursor> places_;  // Where the last step ended, for unfinished webhooks.
  IncrementalStoreTask task_;
};

}  // namespace postrider
