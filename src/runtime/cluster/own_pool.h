// Which tenants this server works: those that are bound to its pool, or to no pool if it has none.
//
// Any thread, except for `change`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/admin/access_snapshot.h"

#include "runtime/store/snapshot.h"

namespace postrider {

/// The tenants whose webhooks are worked by a pool that is not the default one.
using TenantPools = std::map<TenantId, std::string>;

[[nodiscard]] TenantPools pools_of(const AccessSnapshot& access);

class OwnPool {
 public:
  OwnPool(std::string name, TenantPools pools);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool includes(const TenantId& tenant_id) const;
  /// Whether the server works all tenants.
  [[nodiscard]] bool includes_all() const;

  /// The tenants that the server starts to work, and those that it stops working.
  struct Moved {
    std::vector<TenantId> added;
    std::vector<TenantId> removed;
  };
  /// Store thread only.
  [[nodiscard]] Moved change(TenantPools pools);

 private:
  std::string name_;
  Snapshot<TenantPools> pools_;
};

}  // namespace postrider
