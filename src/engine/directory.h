// Who subscribed to what: an immutable snapshot of all webhooks, replaced as a whole when one changes.
// Publishing matches against it without a lock.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/webhook.h"

namespace postrider {

using WebhookRef = std::shared_ptr<const Webhook>;

class Directory {
 public:
  Directory() = default;
  explicit Directory(std::vector<WebhookRef> webhooks);

  /// A copy with `webhook` added or replaced.
  [[nodiscard]] Directory with(WebhookRef webhook) const;
  [[nodiscard]] Directory without(WebhookId id) const;

  [[nodiscard]] WebhookRef find(WebhookId id) const;  // Null when there is none.

  /// The webhooks that want `event`, in id order.
  [[nodiscard]] std::vector<WebhookRef> match(const Event& event) const;

  [[nodiscard]] const std::map<WebhookId, WebhookRef>& all() const { return webhooks_; }

 private:
  void index(const WebhookRef& webhook);

  std::map<WebhookId, WebhookRef> webhooks_;
  std::unordered_map<TenantId, std::vector<WebhookRef>> by_tenant_;  // Each in id order.
};

}  // namespace postrider
