#include "runtime/farewells.h"

namespace postrider {

void Farewells::add(WebhookId id) {
  leaving_.insert(id);
  go_on();
}

void Farewells::go_on() {
  if (leaving_.empty() || step_queued_ || stopped_) {
    return;
  }
  step_queued_ = true;
  store_.submit(DeskJob{[this](Store& store, Mails&) { return step(store); }});
}

Result<void> Farewells::step(Store& store) {
  step_queued_ = false;
  const auto first = leaving_.begin();
  POSTRIDER_TRY(const std::uint32_t cancelled,
                store.catalog->cancel_waiting(*first, clock_.now().wall, cancelled_at_once));
  metrics_.waiting_changed(-std::int64_t{cancelled});
  if (cancelled < cancelled_at_once) {
    leaving_.erase(first);
  }
  // Behind whatever has queued up meanwhile.
  go_on();
  return {};
}

}  // namespace postrider
