#include "runtime/store/receipt_replies.h"

#include "runtime/delivery/placement.h"

namespace postrider {
namespace {

void admit(const Delivery& delivery, RepliesByShard& replies) {
  replies[worker_of(delivery.webhook_id, replies.size())].inputs.emplace_back(Admitted{{delivery}});
}

}  // namespace

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
  for (const auto& [tenant_id, change] : receipt.dead_letter_changes) {
    metrics.dead_letters_changed(tenant_id, change);
  }
}

}  // namespace postrider
