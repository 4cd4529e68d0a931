// Stores tenants, API keys, sessions and sign-in links: small tables, read at startup and kept in
// memory.
//
// Which changes are allowed is decided by engine/admin/access_snapshot.h. The specification is
// tests/contract/registry_contract.cc. Calls block. Store thread only.
#pragma once

#include "core/base/result.h"
#include "core/model/access.h"

namespace postrider {

class Registry {
 public:
  virtual ~Registry() = default;

  [[nodiscard]] virtual Result<RegistryContents> load() = 0;

  /// Runs in the open transaction, or in its own. Adding replaces what has the same id. What is
  /// changed or removed may be missing, except the link of a RedeemLink.
  [[nodiscard]] virtual Result<void> apply(const RegistryChange& change) = 0;

 protected:
  Registry() = default;
  Registry(const Registry&) = default;
  Registry& operator=(const Registry&) = default;
};

}  // namespace postrider
