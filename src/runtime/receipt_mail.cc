#include "runtime/receipt_mail.h"

#include "runtime/placement.h"

namespace postrider {
namespace {

void admit(const Delivery& delivery, Mails& mails) {
  mails[worker_of(delivery.webhook_id, mails.size())].inputs.emplace_back(Admitted{{delivery}});
}

}  // namespace

void tell_lanes(const BatchReceipt& receipt, Mails& mails) {
  for (const Delivery& delivery : receipt.revived_meanwhile) {
    admit(delivery, mails);
  }
  for (const Result<Delivery>& revived : receipt.revivals) {
    if (revived) {
      admit(*revived, mails);
    }
  }
  for (const std::optional<Delivery>& enrolled : receipt.enrolments) {
    if (enrolled) {
      admit(*enrolled, mails);
    }
  }
  for (const Result<Delivery>& cancelled : receipt.cancels) {
    if (cancelled) {
      mails[worker_of(cancelled->webhook_id, mails.size())].inputs.emplace_back(
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
