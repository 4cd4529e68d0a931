// Webhooks and their circuits: small tables, read whole at start and kept in memory.
//
// The specification is tests/contract/catalog_contract.cc. Calls block; used by the store thread
// only. Every call fails with unavailable while the store is broken; see Ledger::recover.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/webhook.h"
#include "core/policy/breaker.h"

namespace postrider {

/// One step on the way through all webhooks.
struct ResealStep {
  std::uint32_t resealed = 0;     // Webhooks whose secrets were written anew.
  std::optional<WebhookId> next;  // Go on after this one; none: that was all.

  bool operator==(const ResealStep&) const = default;
};

class Catalog {
 public:
  virtual ~Catalog() = default;

  /// In id order. Fails with invalid when their secrets are sealed under a key that was not given.
  [[nodiscard]] virtual Result<std::vector<Webhook>> load_webhooks() = 0;
  /// Adds or replaces; the circuit stays. Durable when it returns, like every change here.
  [[nodiscard]] virtual Result<void> put_webhook(const Webhook& webhook) = 0;
  /// Removes it and its circuit. Its history stays; what still waits for it is cancelled by
  /// cancel_waiting. Fails with not_found.
  [[nodiscard]] virtual Result<void> remove_webhook(WebhookId id) = 0;
  /// Cancels up to `limit` of the deliveries that wait for a webhook, known or not, and says how
  /// many: fewer than `limit` when none is left.
  [[nodiscard]] virtual Result<std::uint32_t> cancel_waiting(WebhookId id, WallTime now,
                                                             std::uint32_t limit) = 0;

  /// The webhook's retry policy changed: its waiting deliveries are to be brought forward. The mark
  /// stays until that is done, so that it is gone on with after a crash (Ledger::bring_forward).
  [[nodiscard]] virtual Result<void> mark_rescheduling(WebhookId id) = 0;
  /// In id order.
  [[nodiscard]] virtual Result<std::vector<WebhookId>> load_rescheduling() = 0;

  /// Seals what is stored plain or under an older key with the current key: of the `limit` webhooks
  /// after `after`, in id order, and the requests that were kept of them, removed webhooks
  /// included. A store without a key does nothing.
  [[nodiscard]] virtual Result<ResealStep> reseal_webhooks(std::optional<WebhookId> after,
                                                           std::uint32_t limit) = 0;

  [[nodiscard]] virtual Result<std::map<WebhookId, CircuitRecord>> load_circuits() = 0;

 protected:
  Catalog() = default;
  Catalog(const Catalog&) = default;
  Catalog& operator=(const Catalog&) = default;
};

}  // namespace postrider
