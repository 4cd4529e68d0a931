#include "runtime/observability/batch_stream_events.h"

#include <utility>

#include "runtime/observability/created_deliveries.h"

namespace postrider {
namespace {

CreatedDeliveries created_by(const Batch& batch, const BatchReceipt& receipt,
                             const Directory& directory) {
  CreatedDeliveries created;
  for (std::size_t i = 0; i < receipt.publishes.size(); ++i) {
    if (const auto* accepted = std::get_if<Accepted>(&receipt.publishes[i])) {
      for (const Delivery& delivery : accepted->deliveries) {
        created.add(batch.publishes[i].event.tenant_id, delivery);
      }
    }
  }
  for (const std::optional<Delivery>& late : receipt.late_deliveries) {
    const WebhookRef webhook = late ? directory.find(late->webhook_id) : nullptr;
    if (webhook != nullptr) {
      created.add(webhook->tenant_id, *late);
    }
  }
  return created;
}

}  // namespace

std::vector<StreamEvent> stream_events_of(const Batch& batch, const BatchReceipt& receipt,
                                          const Directory& directory, WallTime now) {
  std::vector<StreamEvent> all = created_by(batch, receipt, directory).to_stream_events(now);
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

void BatchStreamPublisher::publish(const FannedOut& made) {
  if (!hub_.is_active()) {
    return;
  }
  CreatedDeliveries created;
  for (const FannedOut::Part& part : made.parts) {
    for (const Delivery& delivery : part.deliveries) {
      created.add(part.event.tenant_id, delivery);
    }
  }
  for (StreamEvent& stream_event : created.to_stream_events(clock_.now().wall)) {
    hub_.publish(std::move(stream_event));
  }
}

}  // namespace postrider
