// Brings the waiting deliveries of webhooks forward whose retry policy changed, a little at a time.
//
// Belongs to the store thread, but for what has a comment of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "engine/intake/directory.h"
#include "ports/clock.h"
#include "ports/ledger.h"

#include "runtime/store/incremental_store_task.h"

namespace postrider {

/// Some milliseconds of the store.
constexpr std::uint32_t rescheduled_at_once = 500;

class RetryRescheduler {
 public:
  using GetDirectory = std::function<std::shared_ptr<const Directory>()>;

  /// All outlive it.
  RetryRescheduler(const Clock& clock, StoreThread& store, GetDirectory directory);

  /// From the beginning, by the policy that holds now. Also before the store thread starts.
  void add(WebhookId id);
  /// Any thread. The same, behind what the store was asked for before.
  void add_later(WebhookId id);

  /// Goes on after the store has failed. To be said now and then.
  void go_on() { moving_.go_on(); }

  /// Any thread. No further step; the next start goes on with what is marked.
  void stop() { moving_.stop(); }

 private:
  [[nodiscard]] Result<IncrementalStoreTask::Progress> step(WebhookId id, Store& store,
                                                            RepliesByShard& replies);

  const Clock& clock_;
  StoreThread& store_;
  GetDirectory directory_;
  std::map<WebhookId, LanePlace> places_;  // How far those have come that are under way.
  IncrementalStoreTask moving_;
};

}  // namespace postrider
