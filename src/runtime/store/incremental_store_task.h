// Work on the store for one webhook after another that is too long for one go: a webhook may have
// a million deliveries, and nobody else's may wait until they are all done with.
//
// Belongs to the store thread, but for what has a comment of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "core/base/ids.h"
#include "core/base/result.h"

#include "runtime/store/store_thread.h"

namespace postrider {

class IncrementalStoreTask {
 public:
  enum class Progress : std::uint8_t { unfinished, finished };
  /// Some milliseconds of the store. After a failure the same webhook is tried again.
  using Step = std::function<Result<Progress>(WebhookId, Store&, RepliesByShard&)>;

  /// `store` outlives it.
  IncrementalStoreTask(StoreThread& store, Step step) : store_(store), step_(std::move(step)) {}

  /// Also before the store thread starts.
  void add(WebhookId id);

  /// Goes on after the store has failed. To be said now and then.
  void go_on();

  /// Any thread. No further step.
  void stop() { stopped_ = true; }

 private:
  [[nodiscard]] Result<void> take_step(Store& store, RepliesByShard& replies);

  StoreThread& store_;
  Step step_;
  std::set<WebhookId> unfinished_;
  bool step_queued_ = false;
  std::atomic<bool> stopped_{false};
};

}  // namespace postrider
