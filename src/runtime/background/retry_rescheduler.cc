#include "runtime/background/retry_rescheduler.h"

#include <utility>

#include "runtime/delivery/placement.h"

namespace postrider {

RetryRescheduler::RetryRescheduler(const Clock& clock, StoreThread& store, GetDirectory directory)
    : clock_(clock),
      store_(store),
      directory_(std::move(directory)),
      moving_(store, [this](WebhookId id, Store& kept, RepliesByShard& replies) {
        return step(id, kept, replies);
      }) {}

void RetryRescheduler::add(WebhookId id) {
  places_.erase(id);
  moving_.add(id);
}

void RetryRescheduler::add_later(WebhookId id) {
  store_.submit(StoreTask{[this, id](Store&, RepliesByShard&) -> Result<void> {
    add(id);
    return {};
  }});
}

Result<IncrementalStoreTask::Progress> RetryRescheduler::step(WebhookId id, Store& store,
                                                              RepliesByShard& replies) {
  const std::shared_ptr<const Webhook> webhook = directory_()->find(id);
  if (!webhook) {
    places_.erase(id);
    return IncrementalStoreTask::Progress::finished;
  }
  const auto place = places_.find(id);
  POSTRIDER_TRY(BroughtForward done,
                store.ledger->bring_forward(
                    {.webhook_id = id,
                     .policy = webhook->retry,
                     .now = clock_.now().steady,
                     .after = place == places_.end() ? std::nullopt : std::optional{place->second},
                     .limit = rescheduled_at_once}));
  if (!done.moved.empty()) {
    replies[worker_of(id, replies.size())].inputs.emplace_back(
        Rescheduled{.webhook_id = id, .deliveries = std::move(done.moved)});
  }
  if (!done.next) {
    places_.erase(id);
    return IncrementalStoreTask::Progress::finished;
  }
  places_[id] = *done.next;
  return IncrementalStoreTask::Progress::unfinished;
}

}  // namespace postrider
