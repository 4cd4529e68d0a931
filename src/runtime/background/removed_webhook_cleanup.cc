#include "runtime/background/removed_webhook_cleanup.h"

#include <optional>

namespace postrider {

RemovedWebhookCleanup::RemovedWebhookCleanup(const Clock& clock, StoreThread& store,
                                             Metrics& metrics)
    : clock_(clock),
      metrics_(metrics),
      task_(store,
            [this](WebhookId id, Store& roles, RepliesByShard&) { return step(id, roles); }) {}

Result<IncrementalStoreTask::Progress> RemovedWebhookCleanup::step(WebhookId id, Store& store) {
  POSTRIDER_TRY(const std::optional<Webhook> stored, store.catalog->find_webhook(id));
  if (stored) {
    return IncrementalStoreTask::Progress::finished;
  }
  POSTRIDER_TRY(const TenantCounts cancelled,
                store.catalog->cancel_waiting(id, clock_.now().wall, cancel_step_max));
  metrics_.waiting_cancelled(cancelled);
  if (cancelled.total() > 0) {
    observe_();
  }
  return cancelled.total() < cancel_step_max ? IncrementalStoreTask::Progress::finished
                                             : IncrementalStoreTask::Progress::unfinished;
}

}  // namespace postrider
