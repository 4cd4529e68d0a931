#include "runtime/store/receipt_replies.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "runtime/delivery/placement.h"

namespace postrider {
namespace {

void admit(const Delivery& delivery, RepliesByShard& replies) {
  replies[worker_of(delivery.webhook_id, replies.size())].inputs.emplace_back(Admitted{{delivery}});
}

}  // namespace

void admit_event(const EventRef& event, const std::vector<Delivery>& deliveries,
                 RepliesByShard& replies) {
  for (const Delivery& delivery : deliveries) {
    ShardReplies& owner = replies[worker_of(delivery.webhook_id, replies.size())];
    if (owner.events.empty() || owner.events.back() != event) {
      owner.events.push_back(event);
    }
    // One Admitted collects all of a turn.
    if (owner.inputs.empty() || !std::holds_alternative<Admitted>(owner.inputs.back())) {
      owner.inputs.emplace_back(Admitted{});
    }
    std::get<Admitted>(owner.inputs.back()).deliveries.push_back(delivery);
  }
}

void admit_deliveries(Publish& publish, const Accepted& accepted, RepliesByShard& replies) {
  if (accepted.deliveries.empty()) {
    return;
  }
  // The event's own is that of its first delivery.
  publish.event.sequence = accepted.deliveries.front().sequence;
  admit_event(std::make_shared<const Event>(std::move(publish.event)), accepted.deliveries,
              replies);
}

void notify_lanes(const BatchReceipt& receipt, RepliesByShard& replies) {
  for (const Delivery& delivery : receipt.revived_meanwhile) {
    admit(delivery, replies);
  }
  for (const Result<Delivery>& revived : receipt.revivals) {
    if (revived) {
      admit(*revived, replies);
    }
  }
  for (const std::optional<Delivery>& late : receipt.late_deliveries) {
    if (late) {
      admit(*late, replies);
    }
  }
  for (const Result<Delivery>& cancelled : receipt.cancels) {
    if (cancelled) {
      replies[worker_of(cancelled->webhook_id, replies.size())].inputs.emplace_back(
          DeliveryCancelled{cancelled->webhook_id, cancelled->id});
    }
  }
}

void count_changes(const BatchReceipt& receipt, Metrics& metrics) {
  metrics.waiting_changed(receipt.waiting_change);
  const auto is_done = [](const Result<Delivery>& result) { return result.has_value(); };
  metrics.deliveries_entered(
      DeliveryState::pending,
      count_added(receipt) + std::ranges::count_if(receipt.revivals, is_done));
  metrics.deliveries_entered(DeliveryState::cancelled,
                             std::ranges::count_if(receipt.cancels, is_done));
  for (const auto& [tenant_id, change] : receipt.dead_letter_changes) {
    metrics.dead_letters_changed(tenant_id, change);
  }
}

}  // namespace postrider
