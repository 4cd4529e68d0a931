// Stores webhooks and their circuits: small tables, read at startup and kept in memory.
//
// The specification is tests/contract/catalog_contract.cc. Calls block. Store thread only. Every
// call fails with unavailable after a failed commit; see Ledger::recover.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/tenant_counts.h"
#include "core/model/webhook.h"
#include "core/policy/breaker.h"

namespace postrider {

/// The result of one call of reseal_webhooks.
struct ResealStep {
  std::uint32_t resealed = 0;     // Webhooks whose secrets were rewritten.
  std::optional<WebhookId> next;  // Continue after this one; nullopt: finished.

  bool operator==(const ResealStep&) const = default;
};

class Catalog {
 public:
  virtual ~Catalog() = default;

  /// In id order. Fails with invalid if secrets are sealed under a key that was not given.
  [[nodiscard]] virtual Result<std::vector<Webhook>> load_webhooks() = 0;

  /// Returns nullopt if there is no such webhook. Fails as load_webhooks does.
  [[nodiscard]] virtual Result<std::optional<Webhook>> find_webhook(WebhookId id) = 0;
  /// Adds or replaces the webhook; its circuit is kept. Durable when it returns, like every change
  /// here.
  [[nodiscard]] virtual Result<void> put_webhook(const Webhook& webhook) = 0;
  /// Removes the webhook with its secrets and its circuit, but not its history, which
  /// RetentionReader::expired_webhook counts from `now`. Waiting deliveries are cancelled by
  /// cancel_waiting. Fails with not_found.
  [[nodiscard]] virtual Result<void> remove_webhook(WebhookId id, WallTime now) = 0;
  /// Cancels at most `limit` waiting deliveries of a webhook, which may have been removed. Returns
  /// how many it cancelled, by the tenant of their events: in total less than `limit` if none is
  /// left.
  [[nodiscard]] virtual Result<TenantCounts> cancel_waiting(WebhookId id, WallTime now,
                                                            std::uint32_t limit) = 0;

  /// Marks a webhook whose retry policy changed, so that its waiting deliveries must be brought
  /// forward. The mark stays until Ledger::bring_forward has finished, also after a crash.
  [[nodiscard]] virtual Result<void> mark_rescheduling(WebhookId id) = 0;
  /// The marked webhooks, in id order.
  [[nodiscard]] virtual Result<std::vector<WebhookId>> load_rescheduling() = 0;

  /// Seals secrets and requests that are stored in plain text or under an older key with the
  /// current key. Covers the next `limit` webhooks after `after` in id order, removed webhooks
  /// included. Has no effect in a store without a key.
  [[nodiscard]] virtual Result<ResealStep> reseal_webhooks(std::optional<WebhookId> after,
                                                           std::uint32_t limit) = 0;

  [[nodiscard]] virtual Result<std::map<WebhookId, CircuitRecord>> load_circuits() = 0;

 protected:
  Catalog() = default;
  Catalog(const Catalog&) = default;
  Catalog& operator=(const Catalog&) = default;
};

}  // namespace postrider
