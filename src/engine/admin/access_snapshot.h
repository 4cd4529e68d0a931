// Who may call, and which changes of API keys, tenants and portal links are allowed: an immutable
// snapshot of the registry, replaced as a whole when something changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/base/result.h"
#include "core/model/access.h"

namespace postrider {

/// When a key was last used, and which use the store knows of: milliseconds since 1970, 0 for none
/// since this process started. Many threads write it while they share a snapshot; only the
/// functions in runtime/admin/api_key_use.h, which access it atomically, may read or write it.
struct ApiKeyUse {
  alignas(8) std::int64_t used_at_ms = 0;
  alignas(8) std::int64_t written_at_ms = 0;
};

/// A key of the snapshot. Shared by all snapshots that contain it, so that its use survives a
/// change of the registry.
class AccessKey {
 public:
  explicit AccessKey(ApiKey key) : key_(std::move(key)) {}
  AccessKey(const AccessKey&) = delete;
  AccessKey& operator=(const AccessKey&) = delete;

  [[nodiscard]] const ApiKey& key() const { return key_; }
  [[nodiscard]] ApiKeyUse& use() const { return use_; }

 private:
  ApiKey key_;
  mutable ApiKeyUse use_;
};

using KeyRef = std::shared_ptr<const AccessKey>;
using TenantRef = std::shared_ptr<const RegisteredTenant>;

class AccessSnapshot {
 public:
  AccessSnapshot() = default;
  explicit AccessSnapshot(RegistryContents contents);

  /// Returns a copy with the change applied. Fails with not_found, also for an expired link, and
  /// with conflict if the id of an added tenant exists or the last admin key without an expiry
  /// would be removed.
  [[nodiscard]] Result<AccessSnapshot> with(const RegistryChange& change, WallTime now) const;

  /// Restricts the snapshot to what one tenant may see: itself, without keys and links.
  [[nodiscard]] AccessSnapshot only(const TenantId& tenant_id) const;

  // These return null if there is none.
  [[nodiscard]] KeyRef find_key(const std::string& sha256) const;
  [[nodiscard]] KeyRef find_key(KeyId id) const;
  [[nodiscard]] TenantRef find_tenant(const TenantId& id) const;
  [[nodiscard]] const PortalLink* find_link(const std::string& sha256) const;

  [[nodiscard]] const std::map<KeyId, KeyRef>& keys() const { return keys_; }
  [[nodiscard]] const std::map<TenantSerial, TenantRef>& tenants() const { return tenants_; }

  /// A tenant that is not registered has no limits.
  [[nodiscard]] TenantLimits limits_of(const TenantId& id) const;
  /// Whether any tenant has a limit on its events. If not, publishing needs no quota check.
  [[nodiscard]] bool limits_events() const { return event_limits_ > 0; }

  [[nodiscard]] bool is_suspended(const TenantId& id) const;

  /// Whether a SweepExpired would remove anything.
  [[nodiscard]] bool has_expired(WallTime now) const;

 private:
  class Editor;

  void put(KeyRef key);
  void put(TenantRef tenant);
  void erase_key(KeyId id);
  void erase_tenant(const TenantId& id);

  std::map<KeyId, KeyRef> keys_;
  std::unordered_map<std::string, KeyRef> keys_by_hash_;
  std::map<TenantSerial, TenantRef> tenants_;
  std::unordered_map<TenantId, TenantRef> tenants_by_id_;
  std::map<std::string, PortalLink> links_;  // By hash.
  std::size_t event_limits_ = 0;             // Tenants with events_per_minute.
  std::size_t suspensions_ = 0;              // Suspended tenants.
};

}  // namespace postrider
