// Webhooks, their circuits, and API keys: small tables, read whole at start and kept in memory.
//
// The specification is tests/contract/catalog_contract.cc. Calls block; used by the store thread
// only. Every call fails with unavailable while the store is broken; see Ledger::recover.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/breaker.h"
#include "core/ids.h"
#include "core/result.h"
#include "core/webhook.h"

namespace postrider {

struct ApiKey {
  KeyId id;
  std::string name;
  std::string sha256;  // Of the key; the key itself is never stored. 32 raw bytes.
  std::string scope = "admin";
  WallTime created_at;

  bool operator==(const ApiKey&) const = default;
};

class Catalog {
 public:
  virtual ~Catalog() = default;

  /// In id order.
  [[nodiscard]] virtual Result<std::vector<Webhook>> load_webhooks() = 0;
  /// Adds or replaces; the circuit stays. Durable when it returns, like every change here.
  [[nodiscard]] virtual Result<void> put_webhook(const Webhook& webhook) = 0;
  /// Removes it and its circuit and cancels its waiting deliveries, in one transaction. Its history
  /// stays. Fails with not_found.
  [[nodiscard]] virtual Result<void> remove_webhook(WebhookId id, WallTime now) = 0;

  [[nodiscard]] virtual Result<std::map<WebhookId, CircuitRecord>> load_circuits() = 0;

  /// In id order.
  [[nodiscard]] virtual Result<std::vector<ApiKey>> load_api_keys() = 0;
  /// Adds or replaces.
  [[nodiscard]] virtual Result<void> put_api_key(const ApiKey& key) = 0;

 protected:
  Catalog() = default;
  Catalog(const Catalog&) = default;
  Catalog& operator=(const Catalog&) = default;
};

}  // namespace postrider
