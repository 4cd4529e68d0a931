#include "runtime/background/removed_webhook_cleanup.h"

namespace postrider {

RemovedWebhookCleanup::RemovedWebhookCleanup(const Clock& clock, StoreThread& store,
                                             Metrics& metrics)
    : clock_(clock),
      metrics_(metrics),
      leaving_(store,
               [this](WebhookId id, Store& kept, RepliesByShard&) { return step(id, kept); }) {}

Result<IncrementalStoreTask::Progress> RemovedWebhookCleanup::step(WebhookId id, Store& store) {
  POSTRIDER_TRY(const std::uint32_t cancelled,
                store.catalog->cancel_waiting(id, clock_.now().wall, cancelled_at_once));
  metrics_.waiting_changed(-std::int64_t{cancelled});
  return cancelled < cancelled_at_once ? IncrementalStoreTask::Progress::finished
                                       : IncrementalStoreTask::Progress::unfinished;
}

}  // namespace postrider
