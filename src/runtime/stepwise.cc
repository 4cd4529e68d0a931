#include "runtime/stepwise.h"

namespace postrider {

void Stepwise::add(WebhookId id) {
  unfinished_.insert(id);
  go_on();
}

void Stepwise::go_on() {
  if (unfinished_.empty() || step_queued_ || stopped_) {
    return;
  }
  step_queued_ = true;
  store_.submit(DeskJob{[this](Store& store, Mails& mails) { return take_step(store, mails); }});
}

Result<void> Stepwise::take_step(Store& store, Mails& mails) {
  step_queued_ = false;
  const WebhookId id = *unfinished_.begin();
  POSTRIDER_TRY(const Progress progress, step_(id, store, mails));
  if (progress == Progress::finished) {
    unfinished_.erase(id);
  }
  // Behind whatever has queued up meanwhile.
  go_on();
  return {};
}

}  // namespace postrider
