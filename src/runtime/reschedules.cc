#include "runtime/reschedules.h"

#include <utility>

#include "runtime/placement.h"

namespace postrider {

Reschedules::Reschedules(const Clock& clock, StoreThread& store, GetDirectory directory)
    : clock_(clock),
      store_(store),
      directory_(std::move(directory)),
      moving_(store,
              [this](WebhookId id, Store& kept, Mails& mails) { return step(id, kept, mails); }) {}

void Reschedules::add(WebhookId id) {
  places_.erase(id);
  moving_.add(id);
}

void Reschedules::add_later(WebhookId id) {
  store_.submit(DeskJob{[this, id](Store&, Mails&) -> Result<void> {
    add(id);
    return {};
  }});
}

Result<Stepwise::Progress> Reschedules::step(WebhookId id, Store& store, Mails& mails) {
  const std::shared_ptr<const Webhook> webhook = directory_()->find(id);
  if (!webhook) {
    places_.erase(id);
    return Stepwise::Progress::finished;
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
    mails[worker_of(id, mails.size())].inputs.emplace_back(
        Rescheduled{.webhook_id = id, .deliveries = std::move(done.moved)});
  }
  if (!done.next) {
    places_.erase(id);
    return Stepwise::Progress::finished;
  }
  places_[id] = *done.next;
  return Stepwise::Progress::unfinished;
}

}  // namespace postrider
