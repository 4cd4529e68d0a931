#include "runtime/reschedules.h"

#include <utility>

#include "runtime/placement.h"

namespace postrider {

void Reschedules::add(WebhookId id) {
  places_[id] = std::nullopt;
  go_on();
}

void Reschedules::add_later(WebhookId id) {
  store_.submit(DeskJob{[this, id](Store&, Mails&) -> Result<void> {
    add(id);
    return {};
  }});
}

void Reschedules::go_on() {
  if (places_.empty() || step_queued_ || stopped_) {
    return;
  }
  step_queued_ = true;
  store_.submit(DeskJob{[this](Store& store, Mails& mails) { return step(store, mails); }});
}

Result<void> Reschedules::step(Store& store, Mails& mails) {
  step_queued_ = false;
  const auto first = places_.begin();
  const WebhookId id = first->first;
  const std::shared_ptr<const Webhook> webhook = directory_()->find(id);
  if (!webhook) {
    places_.erase(first);
    go_on();
    return {};
  }
  POSTRIDER_TRY(BroughtForward done, store.ledger->bring_forward({.webhook_id = id,
                                                                  .policy = webhook->retry,
                                                                  .now = clock_.now().steady,
                                                                  .after = first->second,
                                                                  .limit = rescheduled_at_once}));
  if (!done.moved.empty()) {
    mails[worker_of(id, mails.size())].inputs.emplace_back(
        Rescheduled{.webhook_id = id, .deliveries = std::move(done.moved)});
  }
  if (done.next) {
    first->second = done.next;
  } else {
    places_.erase(first);
  }
  // Behind whatever has queued up meanwhile.
  go_on();
  return {};
}

}  // namespace postrider
