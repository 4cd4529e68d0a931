#include "runtime/background/removed_webhook_cleanup.h"

namespace postrider {

RemovedWebhookCleanup::RemovedWebhookCleanup(const Clock& clock, StoreThread& store,
                                             Metrics& metrics)
    : clock_(clock),
      metrics_(metrics),
      task_(store,
            [this](WebhookId id, Store& roles, RepliesByShard&) { return step(id, roles); }) {}

Result<IncrementalStoreTask::Progress> RemovedWebhookCleanup::step(WebhookId id, Store& store) {
  POSTRIDER_TRY(const PriorityCounts cancelled,
                store.catalog->cancel_waiting(id, clock_.now().wall, cancel_step_max));
  metrics_.waiting_cancelled(cancelled);
  if (cancelled.total() > 0) {
    observe_();
  }
  return cancelled.total() < cancel_step_max ? IncrementalStoreTask::Progress::finished
                                             : IncrementalStoreTask::Progress::unfinished;
}

}  // namespace postrider
