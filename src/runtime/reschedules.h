// Brings the waiting deliveries of webhooks forward whose retry policy changed, a little at a time:
// a webhook may have a million of them, and nobody else's may wait until they are all moved.
//
// Belongs to the store thread, but for what has a comment of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "core/ids.h"
#include "core/result.h"
#include "engine/directory.h"
#include "ports/clock.h"
#include "ports/ledger.h"

#include "runtime/store_thread.h"

namespace postrider {

/// Some milliseconds of the store.
constexpr std::uint32_t rescheduled_at_once = 500;

class Reschedules {
 public:
  using GetDirectory = std::function<std::shared_ptr<const Directory>()>;

  /// All outlive it.
  Reschedules(const Clock& clock, StoreThread& store, GetDirectory directory)
      : clock_(clock), store_(store), directory_(std::move(directory)) {}

  /// From the beginning, by the policy that holds now. Also before the store thread starts.
  void add(WebhookId id);
  /// Any thread. The same, behind what the store was asked for before.
  void add_later(WebhookId id);

  /// Goes on after the store has failed. To be said now and then.
  void go_on();

  /// Any thread. No further step; the next start goes on with what is marked.
  void stop() { stopped_ = true; }

 private:
  [[nodiscard]] Result<void> step(Store& store, Mails& mails);

  const Clock& clock_;
  StoreThread& store_;
  GetDirectory directory_;
  std::map<WebhookId, std::optional<LanePlace>> places_;  // How far each has come.
  bool step_queued_ = false;
  std::atomic<bool> stopped_{false};
};

}  // namespace postrider
