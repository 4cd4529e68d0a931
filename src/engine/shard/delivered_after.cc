#include "engine/shard/delivered_after.h"

#include <algorithm>

#include "core/base/id_time.h"

namespace postrider {

std::optional<Micros> delivered_after(const Settlement& settlement) {
  const Delivery& delivery = settlement.delivery;
  if (delivery.state != DeliveryState::succeeded || !settlement.attempt ||
      settlement.attempt->trigger != Trigger::scheduled || delivery.revivals > 0 ||
      delivery.in_operation) {
    return std::nullopt;
  }
  const Outcome& outcome = settlement.attempt->outcome;
  const Millis until_attempt = outcome.executed_at - created_at(delivery.event_id);
  return std::max<Micros>(until_attempt, Micros{0}) + outcome.duration;
}

}  // namespace postrider
