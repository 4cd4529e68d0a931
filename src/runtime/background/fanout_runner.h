// Makes the deliveries of events that go to many webhooks, from their notes, in small steps between
// the other jobs of the store thread. Tenants take turns.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "engine/intake/fanout_turns.h"
#include "ports/clock.h"
#include "ports/ledger.h"

#include "runtime/admin/admin_changes.h"
#include "runtime/cluster/leader_flag.h"
#include "runtime/observability/batch_stream_events.h"
#include "runtime/store/store_thread.h"

namespace postrider {

class FanoutRunner {
 public:
  /// All must outlive this object.
  struct Parts {
    const Clock* clock = nullptr;
    StoreThread* store = nullptr;
    Metrics* metrics = nullptr;
    const AdminChanges* changes = nullptr;
    BatchStreamPublisher* stream = nullptr;
    std::function<Uuid()> new_uuid;
    const LeaderFlag* leader = nullptr;  // Only the leader makes deliveries. Null: always.
    /// Called before deliveries are admitted to their lanes, if other servers share the store.
    std::function<Result<void>(const FannedOut&, Store&, RepliesByShard&)> made = {};
  };

  FanoutRunner(const FanoutBacklogLimits& limits, Parts parts)
      : limits_(limits), parts_(std::move(parts)) {}

  /// New notes were stored. Store thread, or before it starts.
  void add(const std::map<TenantId, std::uint64_t>& fanouts);

  /// Reads again which notes there are: a batch that failed may be stored, or another server has
  /// added or finished some.
  void reload();

  /// The same if this server leads, unless it takes long and was done lately. Other servers may
  /// have added some. Call whenever something may have changed.
  void look();

  /// Takes no further step; the next start of the server continues. Any thread.
  void stop() { stopped_ = true; }

  /// Whether a publish of the tenant that needs a note is accepted (P6). Any thread.
  [[nodiscard]] FanoutAdmission admit(const TenantId& tenant_id) const;
  /// Deliveries that are still to be made. Any thread.
  [[nodiscard]] std::uint64_t remaining() const;

 private:
  /// Any thread.
  void queue_step();
  void end_step();
  [[nodiscard]] Result<void> take_step(Store& store, RepliesByShard& replies);
  /// Returns false if there is nothing to do.
  [[nodiscard]] Result<bool> perform(Store& store, RepliesByShard& replies);
  [[nodiscard]] Result<std::optional<TenantId>> next_tenant(Store& store);
  /// Returns the number of deliveries.
  [[nodiscard]] std::uint64_t publish(FannedOut& done, RepliesByShard& replies);

  FanoutBacklogLimits limits_;
  Parts parts_;
  mutable std::mutex mutex_;
  FanoutTurns turns_;         // Guarded by mutex_.
  bool stepping_ = false;     // Guarded by mutex_. Until the shards have taken the deliveries.
  bool must_reload_ = false;  // Guarded by mutex_.
  MonoTime next_look_{};      // Guarded by mutex_.
  std::uint32_t step_size_ = fanout_step_first;  // Store thread only.
  std::atomic<bool> stopped_{false};
};

}  // namespace postrider
