#include "runtime/farewells.h"

namespace postrider {

Farewells::Farewells(const Clock& clock, StoreThread& store, Metrics& metrics)
    : clock_(clock),
      metrics_(metrics),
      leaving_(store, [this](WebhookId id, Store& kept, Mails&) { return step(id, kept); }) {}

Result<Stepwise::Progress> Farewells::step(WebhookId id, Store& store) {
  POSTRIDER_TRY(const std::uint32_t cancelled,
                store.catalog->cancel_waiting(id, clock_.now().wall, cancelled_at_once));
  metrics_.waiting_changed(-std::int64_t{cancelled});
  return cancelled < cancelled_at_once ? Stepwise::Progress::finished
                                       : Stepwise::Progress::unfinished;
}

}  // namespace postrider
