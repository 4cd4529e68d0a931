// API keys, sessions, tenants and sign-in links, and the changes that can be made to them. Which
// changes are allowed is decided by engine/admin/access_snapshot.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/event.h"

namespace postrider {

/// `admin` may do everything; `tenant` may do everything within one tenant.
enum class KeyScope : std::uint8_t { admin, publish, read, tenant };

/// What a tenant's key may do within its tenant. `viewer` may only read.
enum class KeyRole : std::uint8_t { admin, viewer };

constexpr EnumNames<KeyRole, KeyRole::viewer> key_role_names{{"admin", "viewer"}};
[[nodiscard]] inline std::string_view to_string(KeyRole role) { return key_role_names.name(role); }
[[nodiscard]] inline std::optional<KeyRole> parse_key_role(std::string_view text) {
  return key_role_names.find(text);
}

/// How the dashboard presents itself. Unset: as the server's settings say.
struct Branding {
  std::optional<std::string> title = std::nullopt;
  std::optional<std::string> logo_url = std::nullopt;
  std::optional<std::string> primary_color = std::nullopt;  // #rrggbb

  bool operator==(const Branding&) const = default;
};

/// Where a session comes from.
struct SessionOrigin {
  KeyId parent;         // The key that signed in or created the link. The session ends with it.
  bool portal = false;  // From a portal link: the user is not the owner of `parent`.
  Branding branding = {};

  bool operator==(const SessionOrigin&) const = default;
};

/// An API key, or a session: a short-lived key that a browser holds in a cookie.
struct ApiKey {
  KeyId id;
  std::string name;
  std::string sha256;  // Of the key, 32 raw bytes. The key itself is never stored.
  KeyScope scope = KeyScope::admin;
  TenantId tenant_id = {};        // Only for scope `tenant`.
  KeyRole role = KeyRole::admin;  // `viewer` only for scope `tenant`.
  WallTime created_at;
  std::optional<WallTime> expires_at = std::nullopt;
  std::optional<WallTime> last_used_at = std::nullopt;  // As stored: up to a minute old.
  std::optional<SessionOrigin> session = std::nullopt;  // Set: a session. It always expires.

  bool operator==(const ApiKey&) const = default;
};

/// The key that answers for what is done with `key`. The user of a portal link is not the owner of
/// the key that created it, so such a session answers for itself.
[[nodiscard]] inline KeyId acting_key(const ApiKey& key) {
  return key.session && !key.session->portal ? key.session->parent : key.id;
}

struct TenantKind {
  static constexpr std::string_view prefix = "tnt_";
};
/// Contains the time of registration. Tenants are sorted by it.
using TenantSerial = Id<TenantKind>;

/// nullopt: unlimited.
struct TenantLimits {
  std::optional<std::uint32_t> webhooks_max;  // nullopt: the server's default.
  std::optional<std::uint32_t> events_per_minute;
  // Caps of what its webhooks may ask for. nullopt: the server's default.
  std::optional<std::uint32_t> timeout_ms_max = std::nullopt;
  std::optional<std::uint32_t> max_in_flight_max = std::nullopt;

  bool operator==(const TenantLimits&) const = default;
};

/// An outer nullopt leaves the limit as it is.
struct LimitsChange {
  std::optional<std::optional<std::uint32_t>> webhooks_max = std::nullopt;
  std::optional<std::optional<std::uint32_t>> events_per_minute = std::nullopt;
  std::optional<std::optional<std::uint32_t>> timeout_ms_max = std::nullopt;
  std::optional<std::optional<std::uint32_t>> max_in_flight_max = std::nullopt;
};

[[nodiscard]] inline TenantLimits changed_limits(const TenantLimits& limits,
                                                 const LimitsChange& change) {
  return {.webhooks_max = change.webhooks_max.value_or(limits.webhooks_max),
          .events_per_minute = change.events_per_minute.value_or(limits.events_per_minute),
          .timeout_ms_max = change.timeout_ms_max.value_or(limits.timeout_ms_max),
          .max_in_flight_max = change.max_in_flight_max.value_or(limits.max_in_flight_max)};
}

struct RegisteredTenant {
  TenantId id;
  TenantSerial serial;
  std::optional<std::string> name;
  std::string metadata = "{}";      // A JSON object, verbatim.
  std::optional<std::string> pool;  // The nodes that serve it.
  TenantLimits limits;
  WallTime created_at;
  std::optional<WallTime> suspended_at = std::nullopt;
  std::optional<std::string> suspended_reason = std::nullopt;  // Only of a suspended tenant.
  std::vector<std::string> contacts = {};  // E-mail addresses that channels can be sent to.

  bool operator==(const RegisteredTenant&) const = default;
};

/// Can be redeemed once, for a session. A portal link opens a session of scope `tenant`.
struct SignInLink {
  std::string sha256;  // Of its token, 32 raw bytes.
  TenantId tenant_id;  // Only for scope `tenant`.
  Millis session{0};   // The lifetime of the session.
  WallTime expires_at;
  KeyRole role = KeyRole::admin;      // Of the session.
  KeyScope scope = KeyScope::tenant;  // Of the session.
  KeyId created_by = {};              // The link ends with this key.
  Branding branding = {};

  bool operator==(const SignInLink&) const = default;
};

/// A key with the same id is replaced; its sessions and links are removed. With `keys_max`, fails
/// with conflict if the key's tenant already has that many keys.
struct AddKey {
  ApiKey key;
  std::optional<std::size_t> keys_max = std::nullopt;
};
/// Also removes its sessions and links.
struct RemoveKey {
  KeyId id;
};
struct NoteKeyUses {
  std::vector<std::pair<KeyId, WallTime>> uses;
};
struct AddTenant {
  RegisteredTenant tenant;
};
/// Carries the change, not the resulting limits: another request may change another limit at the
/// same time.
struct SetLimits {
  TenantId tenant_id;
  LimitsChange change;
};
struct SetContacts {
  TenantId tenant_id;
  std::vector<std::string> contacts;
};
/// A suspended tenant publishes nothing, its deliveries wait and its portal is closed. No effect on
/// a tenant that is already suspended.
struct SuspendTenant {
  TenantId tenant_id;
  WallTime at;
  std::optional<std::string> reason;
};
/// No effect on a tenant that is not suspended.
struct ResumeTenant {
  TenantId tenant_id;
};
/// Also removes its keys, sessions and links.
struct RemoveTenant {
  TenantId tenant_id;
};
/// Fails with not_found if the key that created it is gone.
struct AddLink {
  SignInLink link;
};
/// Removes the link and adds the session. Fails with not_found if the link is gone.
struct RedeemLink {
  std::string sha256;
  ApiKey session;
};
/// Fails with not_found if the session's parent is gone or has expired.
struct AddSession {
  ApiKey session;
};
/// No effect on sessions that are gone.
struct EndSessions {
  std::vector<KeyId> ids;
};
/// Removes links and sessions that have expired at `now`.
struct SweepExpired {
  WallTime now;
};

using RegistryChange = std::variant<AddKey, RemoveKey, NoteKeyUses, AddTenant, SetLimits,
                                    SetContacts, SuspendTenant, ResumeTenant, RemoveTenant, AddLink,
                                    RedeemLink, AddSession, EndSessions, SweepExpired>;

struct RegistryContents {
  std::vector<ApiKey> keys;               // In id order.
  std::vector<RegisteredTenant> tenants;  // In order of their serial.
  std::vector<SignInLink> links;          // In order of their hash.
  std::vector<ApiKey> sessions = {};      // In id order.

  bool operator==(const RegistryContents&) const = default;
};

}  // namespace postrider
