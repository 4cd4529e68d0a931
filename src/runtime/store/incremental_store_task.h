// Runs work on the store thread that is too long for one turn, one webhook after another, in small
// steps. A webhook may have a million deliveries, and other jobs must not wait for all of them.
//
// Store thread only unless noted.
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
  /// Should take a few milliseconds. After a failure the same webhook is tried again.
  using Step = std::function<Result<Progress>(WebhookId, Store&, RepliesByShard&)>;

  /// `store` must outlive this object.
  IncrementalStoreTask(StoreThread& store, Step step) : store_(store), step_(std::move(step)) {}

  /// May also be called before the store thread starts.
  void add(WebhookId id);

  /// Resumes after a store failure. Call periodically.
  void resume();

  /// Takes no further step. Any thread.
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
