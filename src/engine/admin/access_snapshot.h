// Who may call, and which changes of API keys, sessions, tenants and sign-in links are allowed: an
// immutable snapshot of the registry, replaced as a whole when something changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

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

/// How many sessions one key may have per tenant. A further one ends the oldest.
constexpr std::size_t sessions_max = 100;

class AccessSnapshot {
 public:
  AccessSnapshot() = default;
  explicit AccessSnapshot(RegistryContents contents);

  /// Returns a copy with the change applied. Fails with not_found, also for an expired link, and
  /// with conflict if the id of an added tenant exists, the last admin key without an expiry would
  /// be removed or a tenant would have too many keys.
  [[nodiscard]] Result<AccessSnapshot> with(const RegistryChange& change, WallTime now) const;

  /// Restricts the snapshot to what one tenant may see: itself, without keys, sessions and links.
  [[nodiscard]] AccessSnapshot only(const TenantId& tenant_id) const;

  // These return null if there is none. A session is not found as a key.
  [[nodiscard]] KeyRef find_key(const std::string& sha256) const { return keys_.find(sha256); }
  [[nodiscard]] KeyRef find_key(KeyId id) const { return keys_.find(id); }
  [[nodiscard]] KeyRef find_session(const std::string& sha256) const {
    return sessions_.find(sha256);
  }
  [[nodiscard]] KeyRef find_session(KeyId id) const { return sessions_.find(id); }
  /// A key or a session.
  [[nodiscard]] KeyRef find_caller(KeyId id) const;
  [[nodiscard]] TenantRef find_tenant(const TenantId& id) const;
  [[nodiscard]] const SignInLink* find_link(const std::string& sha256) const;

  /// All keys, without sessions.
  [[nodiscard]] const std::map<KeyId, KeyRef>& keys() const { return keys_.by_id(); }
  /// The keys of one tenant, without sessions.
  [[nodiscard]] std::map<KeyId, KeyRef> keys_of(const TenantId& tenant_id) const;
  /// The oldest sessions beyond sessions_max of the same parent and tenant as `session`.
  [[nodiscard]] std::vector<KeyId> surplus_sessions(const ApiKey& session) const;
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

  /// Keys by id and by hash.
  class KeyTable {
   public:
    /// Replaces the key with the same id.
    void put(KeyRef key);
    void erase(KeyId id);
    template <class Condition>
    void erase_if(Condition condition);
    [[nodiscard]] KeyRef find(const std::string& sha256) const;
    [[nodiscard]] KeyRef find(KeyId id) const;
    [[nodiscard]] const std::map<KeyId, KeyRef>& by_id() const { return by_id_; }

   private:
    std::map<KeyId, KeyRef> by_id_;
    std::unordered_map<std::string, KeyRef> by_hash_;
  };

  void put(TenantRef tenant);
  void erase_tenant(const TenantId& id);

  KeyTable keys_;
  KeyTable sessions_;
  std::map<TenantSerial, TenantRef> tenants_;
  std::unordered_map<TenantId, TenantRef> tenants_by_id_;
  std::map<std::string, SignInLink> links_;  // By hash.
  std::size_t event_limits_ = 0;             // Tenants with events_per_minute.
  std::size_t suspensions_ = 0;              // Suspended tenants.
};

}  // namespace postrider
