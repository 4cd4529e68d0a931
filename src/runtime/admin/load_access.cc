#include "runtime/admin/load_access.h"

#include <utility>
#include <vector>

#include "ports/audit.h"

#include "runtime/cluster/catalog_lock.h"

namespace postrider {
namespace {

/// Stores a change with its audit entry, and applies it to `access`.
Result<void> make_change(Store& store, AccessSnapshot& access, const RegistryChange& change,
                         const AuditEntry& entry) {
  POSTRIDER_TRY(AccessSnapshot changed, access.with(change, entry.at));
  POSTRIDER_CHECK(store.atomically([&]() -> Result<void> {
    POSTRIDER_CHECK(store.registry->apply(change));
    return store.audit->append(entry);
  }));
  access = std::move(changed);
  return {};
}

AuditEntry entry_of(std::string action, std::string subject, WallTime at) {
  AuditEntry entry;
  entry.at = at;
  entry.action = std::move(action);
  entry.subject = std::move(subject);
  return entry;
}

/// A server that was started at the same time may have stored the same key.
bool is_stored(const AccessSnapshot& access, const ApiKey& key) {
  const KeyRef known = access.find_key(key.id);
  return known && known->key().sha256 == key.sha256;
}

Result<AccessSnapshot> load(Store& store, const StartAccess& added, WallTime now) {
  POSTRIDER_TRY(RegistryContents registry, store.registry->load());
  AccessSnapshot access{std::move(registry)};
  if (added.key && !is_stored(access, *added.key)) {
    const ApiKey& key = *added.key;
    POSTRIDER_CHECK(make_change(store, access, AddKey{key},
                                entry_of("api_key.create", key.id.to_string(), key.created_at)));
  }
  if (added.link) {
    const SignInLink& link = *added.link;
    POSTRIDER_CHECK(make_change(store, access, AddLink{link},
                                entry_of("sign_in_link.create", link.created_by.to_string(), now)));
  }
  if (!access.has_expired(now)) {
    return access;
  }
  POSTRIDER_CHECK(store.registry->apply(SweepExpired{now}));
  return access.with(SweepExpired{now}, now);
}

}  // namespace

Result<AccessSnapshot> load_access(Store& store, const StartAccess& added, WallTime now) {
  AccessSnapshot access;
  POSTRIDER_CHECK(with_catalog_locked(store, [&]() -> Result<void> {
    POSTRIDER_TRY(access, load(store, added, now));
    return {};
  }));
  return access;
}

}  // namespace postrider
