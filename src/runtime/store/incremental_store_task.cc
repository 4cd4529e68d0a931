#include "runtime/store/incremental_store_task.h"

namespace postrider {

void IncrementalStoreTask::add(WebhookId id) {
  unfinished_.insert(id);
  resume();
}

void IncrementalStoreTask::resume() {
  if (unfinished_.empty() || step_queued_ || stopped_) {
    return;
  }
  step_queued_ = true;
  store_.submit(StoreTask{
      [this](Store& store, RepliesByShard& replies) { return take_step(store, replies); }});
}

Result<void> IncrementalStoreTask::take_step(Store& store, RepliesByShard& replies) {
  step_queued_ = false;
  const WebhookId id = *unfinished_.begin();
  POSTRIDER_TRY(const Progress progress, step_(id, store, replies));
  if (progress == Progress::finished) {
    unfinished_.erase(id);
  }
  // Queued behind the jobs that arrived meanwhile.
  resume();
  return {};
}

}  // namespace postrider
