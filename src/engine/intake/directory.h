// Who subscribed to what: an immutable snapshot of all webhooks, replaced as a whole when one
// changes. PublishWriter matches against it without a lock.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/webhook.h"

namespace postrider {

using WebhookRef = std::shared_ptr<const Webhook>;

class Directory {
 public:
  Directory() = default;
  explicit Directory(std::vector<WebhookRef> webhooks);

  /// A copy with `webhook` added or replaced.
  [[nodiscard]] Directory with(WebhookRef webhook) const;
  [[nodiscard]] Directory without(WebhookId id) const;
  [[nodiscard]] Directory without_tenant(const TenantId& tenant_id) const;
  /// One tenant's webhooks and nobody else's.
  [[nodiscard]] Directory only(const TenantId& tenant_id) const;
  [[nodiscard]] std::size_t count_of(const TenantId& tenant_id) const;

  [[nodiscard]] WebhookRef find(WebhookId id) const;  // Null when there is none.

  /// The webhooks that want `event`, in id order.
  [[nodiscard]] std::vector<WebhookRef> match(const Event& event) const;

  [[nodiscard]] const std::map<WebhookId, WebhookRef>& all() const { return webhooks_; }

 private:
  /// A tenant's webhooks, sorted so that an event meets few of those that do not want it: each
  /// webhook is under its resource, else under its event types, else among those with a wildcard.
  struct Tenant {
    std::map<WebhookId, WebhookRef> webhooks;
    std::unordered_map<std::string, std::vector<WebhookRef>> by_resource;
    std::unordered_map<std::string, std::vector<WebhookRef>> by_type;
    std::vector<WebhookRef> wildcards;

    void add(const WebhookRef& webhook);
  };
  using TenantRef =
      std::shared_ptr<const Tenant>;  // Shared by all snapshots in which it is the same.

  void rebuild(const TenantId& tenant_id, std::map<WebhookId, WebhookRef> webhooks);
  [[nodiscard]] std::map<WebhookId, WebhookRef> webhooks_of(const TenantId& tenant_id) const;

  std::map<WebhookId, WebhookRef> webhooks_;
  std::unordered_map<TenantId, TenantRef> tenants_;
};

}  // namespace postrider
