#include "runtime/observability/batch_stream_events.h"

#include <utility>

namespace postrider {

std::vector<StreamEvent> stream_events_of(const Batch& batch, const BatchReceipt& receipt,
                                          const Directory& directory, WallTime now) {
  std::vector<StreamEvent> all;
  const auto add = [&](const Settlement& settlement) -> StreamEvent* {
    const WebhookRef webhook = directory.find(settlement.delivery.webhook_id);
    if (webhook == nullptr) {
      return nullptr;
    }
    all.push_back(stream_events_of(settlement, webhook->tenant_id));
    return &all.back();
  };
  const auto add_changed = [&](const Delivery& delivery) {
    if (StreamEvent* stream_event = add({.delivery = delivery, .attempt = {}, .dead = {}})) {
      stream_event->at = now;
    }
  };
  for (const Settlement& settlement : batch.settlements) {
    (void)add(settlement);
  }
  for (const std::optional<Delivery>& late : receipt.late_deliveries) {
    if (late) {
      add_changed(*late);
    }
  }
  for (const std::vector<Result<Delivery>>* answers : {&receipt.revivals, &receipt.cancels}) {
    for (const Result<Delivery>& delivery : *answers) {
      if (delivery) {
        add_changed(*delivery);
      }
    }
  }
  return all;
}

void BatchStreamPublisher::publish(const Batch& batch, const BatchReceipt& receipt) {
  if (!hub_.is_active()) {
    return;
  }
  for (StreamEvent& stream_event :
       stream_events_of(batch, receipt, *changes_.directory(), clock_.now().wall)) {
    hub_.publish(std::move(stream_event));
  }
}

}  // namespace postrider
