// Who may call and whose data there is: an immutable snapshot of tenants, API keys and portal
// links, replaced as a whole when one changes. What is allowed to change is decided here.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/result.h"
#include "ports/registry.h"

namespace postrider {

/// A key, and when it was used last: known at once in memory, written down now and then.
class AccessKey {
 public:
  explicit AccessKey(ApiKey key) : key_(std::move(key)) {}

  [[nodiscard]] const ApiKey& key() const { return key_; }

  /// Any thread. Cheap: most calls only look.
  void note_use(WallTime now) const;
  [[nodiscard]] std::optional<WallTime> last_used_at() const;

  /// The store knows of the use at `at`.
  void mark_written(WallTime at) const;
  [[nodiscard]] bool has_unwritten_use() const;

 private:
  ApiKey key_;
  mutable std::atomic<std::int64_t> used_at_ms_{0};  // Since this process started; 0: not yet.
  mutable std::atomic<std::int64_t> written_at_ms_{0};
};

using KeyRef = std::shared_ptr<const AccessKey>;
using TenantRef = std::shared_ptr<const RegisteredTenant>;

class AccessSnapshot {
 public:
  AccessSnapshot() = default;
  explicit AccessSnapshot(RegistryContents contents);

  /// A copy with the change made. Fails with not_found, and with conflict: the id of an added
  /// tenant is taken, or the last admin key would go. An expired link is not found.
  [[nodiscard]] Result<AccessSnapshot> with(const RegistryChange& change, WallTime now) const;

  /// Only what one tenant may know: itself.
  [[nodiscard]] AccessSnapshot only(const TenantId& tenant_id) const;

  // Null when there is none.
  [[nodiscard]] KeyRef find_key(const std::string& sha256) const;
  [[nodiscard]] KeyRef find_key(KeyId id) const;
  [[nodiscard]] TenantRef find_tenant(const TenantId& id) const;
  [[nodiscard]] const PortalLink* find_link(const std::string& sha256) const;

  [[nodiscard]] const std::map<KeyId, KeyRef>& keys() const { return keys_; }
  [[nodiscard]] const std::map<TenantSerial, TenantRef>& tenants() const { return tenants_; }

  /// No limits for a tenant that is not registered.
  [[nodiscard]] TenantLimits limits_of(const TenantId& id) const;
  /// Does any tenant have a limit on its events? PublishWriter need not look further when none has.
  [[nodiscard]] bool limits_events() const { return event_limits_ > 0; }

  [[nodiscard]] bool has_expired(WallTime now) const;
  /// The latest uses that the store does not know of.
  [[nodiscard]] NoteKeyUses unwritten_uses() const;

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
  std::map<std::string, PortalLink> links_;  // By their hash.
  std::size_t event_limits_ = 0;             // Tenants with events_per_minute.
};

}  // namespace postrider
