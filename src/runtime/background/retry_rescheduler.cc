#include "runtime/background/retry_rescheduler.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "runtime/delivery/placement.h"

namespace postrider {

RetryRescheduler::RetryRescheduler(const Clock& clock, StoreThread& store,
                                   const AdminChanges& changes)
    : clock_(clock),
      store_(store),
      changes_(changes),
      task_(store, [this](WebhookId id, Store& roles, RepliesByShard& replies) {
        return step(id, roles, replies);
      }) {}

void RetryRescheduler::add(WebhookId id) {
  places_.erase(id);
  task_.add(id);
}

void RetryRescheduler::add_from_the_future(std::span<const LaneBacklog> lanes) {
  const Moment now = clock_.now();
  std::size_t count = 0;
  for (const LaneBacklog& lane : lanes) {
    // Attempts have the time of the wall clock, due times are steady times.
    if (is_from_the_future(lane, lane.last_attempt ? now.wall : now.steady)) {
      add(lane.webhook_id);
      ++count;
    }
  }
  if (count > 0) {
    spdlog::warn("clock.set_back webhooks={} next=\"their retries are planned anew\"", count);
  }
}

void RetryRescheduler::add_later(WebhookId id) {
  store_.submit(StoreTask{[this, id](Store&, RepliesByShard&) -> Result<void> {
    add(id);
    return {};
  }});
}

Result<IncrementalStoreTask::Progress> RetryRescheduler::step(WebhookId id, Store& store,
                                                              RepliesByShard& replies) {
  const std::shared_ptr<const Webhook> webhook = changes_.directory()->find(id);
  if (!webhook) {
    places_.erase(id);
    return IncrementalStoreTask::Progress::finished;
  }
  const auto place = places_.find(id);
  Result<BroughtForward> done = store.ledger->bring_forward(
      {.webhook_id = id,
       .policy = webhook->retry,
       .now = clock_.now().steady,
       .after = place == places_.end() ? std::nullopt : std::optional{place->second},
       .limit = reschedule_step_max});
  if (!done && done.error().code == Errc::conflict) {
    // Another server works the webhook now. It finds the mark in the store and begins anew.
    places_.erase(id);
    return IncrementalStoreTask::Progress::finished;
  }
  if (!done) {
    return tl::make_unexpected(std::move(done).error());
  }
  if (!done->moved.empty()) {
    replies[worker_of(id, replies.size())].inputs.emplace_back(
        Rescheduled{.webhook_id = id, .deliveries = std::move(done->moved)});
  }
  if (!done->next) {
    places_.erase(id);
    return IncrementalStoreTask::Progress::finished;
  }
  places_[id] = *done->next;
  return IncrementalStoreTask::Progress::unfinished;
}

}  // namespace postrider
