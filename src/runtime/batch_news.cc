#include "runtime/batch_news.h"

#include <utility>

namespace postrider {

std::vector<News> news_of(const Batch& batch, const BatchReceipt& receipt,
                          const Directory& directory, WallTime now) {
  std::vector<News> all;
  const auto add = [&](const Settlement& settlement) -> News* {
    const WebhookRef webhook = directory.find(settlement.delivery.webhook_id);
    if (webhook == nullptr) {
      return nullptr;
    }
    all.push_back(news_of(settlement, webhook->tenant_id));
    return &all.back();
  };
  const auto add_changed = [&](const Delivery& delivery) {
    if (News* news = add({.delivery = delivery, .attempt = {}, .dead = {}})) {
      news->at = now;
    }
  };
  for (const Settlement& settlement : batch.settlements) {
    (void)add(settlement);
  }
  for (const std::optional<Delivery>& enrolled : receipt.enrolments) {
    if (enrolled) {
      add_changed(*enrolled);
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

}  // namespace postrider
