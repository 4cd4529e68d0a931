#include "runtime/admin/load_access.h"

#include <utility>
#include <vector>

#include "ports/audit.h"

namespace postrider {
namespace {

Result<void> store_key(Store& store, const ApiKey& key) {
  AuditEntry entry;
  entry.at = key.created_at;
  entry.action = "api_key.create";
  entry.subject = key.id.to_string();
  return store.atomically([&]() -> Result<void> {
    POSTRIDER_CHECK(store.registry->apply(AddKey{key}));
    return store.audit->append(entry);
  });
}

}  // namespace

Result<AccessSnapshot> load_access(Store& store, const std::optional<ApiKey>& key, WallTime now) {
  POSTRIDER_TRY(RegistryContents registry, store.registry->load());
  if (key) {
    POSTRIDER_CHECK(store_key(store, *key));
    std::erase_if(registry.keys, [&](const ApiKey& other) { return other.id == key->id; });
    registry.keys.push_back(*key);
  }
  AccessSnapshot access{std::move(registry)};
  if (!access.has_expired(now)) {
    return access;
  }
  POSTRIDER_CHECK(store.registry->apply(SweepExpired{now}));
  return access.with(SweepExpired{now}, now);
}

}  // namespace postrider
