// The webhooks and their subscriptions: an immutable snapshot, replaced as a whole when a webhook
// changes. Publishing matches events against it without a lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/webhook.h"

namespace postrider {

using WebhookRef = std::shared_ptr<const Webhook>;

/// The webhooks that an event must be compared with. Valid as long as the directory.
struct MatchCandidates {
  const std::vector<WebhookRef>* webhooks = nullptr;     // All of the tenant, in id order.
  std::array<std::span<const std::uint32_t>, 3> places;  // In `webhooks`.

  [[nodiscard]] std::size_t size() const {
    return places[0].size() + places[1].size() + places[2].size();
  }
  /// The place of one candidate in `webhooks`.
  [[nodiscard]] std::uint32_t place(std::size_t index) const;
};

class Directory {
 public:
  Directory() = default;
  explicit Directory(std::vector<WebhookRef> webhooks);

  // These return a copy.

  /// Adds or replaces `webhook`.
  [[nodiscard]] Directory with(WebhookRef webhook) const;
  [[nodiscard]] Directory without(WebhookId id) const;
  [[nodiscard]] Directory without_tenant(const TenantId& tenant_id) const;
  /// Restricts the directory to the webhooks of one tenant.
  [[nodiscard]] Directory only(const TenantId& tenant_id) const;
  [[nodiscard]] std::size_t count_of(const TenantId& tenant_id) const;

  [[nodiscard]] WebhookRef find(WebhookId id) const;  // Null if there is none.

  [[nodiscard]] MatchCandidates candidates(const Event& event) const;

  /// The webhooks that subscribe to `event`, in id order.
  [[nodiscard]] std::vector<WebhookRef> match(const Event& event) const;

  [[nodiscard]] const std::map<WebhookId, WebhookRef>& all() const { return webhooks_; }

 private:
  /// The webhooks of a tenant, indexed so that an event is compared with few of them. Each webhook
  /// is in one index: by its resource, else by its event types, else among those with a wildcard.
  struct Tenant {
    using Places = std::vector<std::uint32_t>;  // In `in_order`.

    std::map<WebhookId, WebhookRef> webhooks;
    std::vector<WebhookRef> in_order;
    std::unordered_map<std::string, Places> by_resource;
    std::unordered_map<std::string, Places> by_type;
    Places wildcards;

    void add(const WebhookRef& webhook);
  };
  /// Shared by all snapshots in which the tenant's webhooks are the same.
  using TenantRef = std::shared_ptr<const Tenant>;

  void rebuild(const TenantId& tenant_id, std::map<WebhookId, WebhookRef> webhooks);
  [[nodiscard]] std::map<WebhookId, WebhookRef> webhooks_of(const TenantId& tenant_id) const;

  std::map<WebhookId, WebhookRef> webhooks_;
  std::unordered_map<TenantId, TenantRef> tenants_;
};

}  // namespace postrider
