// API keys, tenants and portal links, and the changes that can be made to them. Which changes are
// allowed is decided by engine/admin/access_snapshot.h.
#pragma once

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
  bool portal_session = false;  // Created from a portal link; removed after it expires.

  bool operator==(const ApiKey&) const = default;
};

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

  bool operator==(const RegisteredTenant&) const = default;
};

/// Can be redeemed once, for a portal session.
struct PortalLink {
  std::string sha256;  // Of its token, 32 raw bytes.
  TenantId tenant_id;
  Millis session{0};  // The lifetime of the session.
  WallTime expires_at;
  KeyRole role = KeyRole::admin;  // Of the session.

  bool operator==(const PortalLink&) const = default;
};

struct AddKey {
  ApiKey key;
};
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
/// Also removes its keys and portal links.
struct RemoveTenant {
  TenantId tenant_id;
};
struct AddLink {
  PortalLink link;
};
/// Removes the link and adds the key of the session. Fails with not_found if the link is gone.
struct RedeemLink {
  std::string sha256;
  ApiKey session;
};
/// Removes links and portal sessions that have expired at `now`.
struct SweepExpired {
  WallTime now;
};

using RegistryChange =
    std::variant<AddKey, RemoveKey, NoteKeyUses, AddTenant, SetLimits, SuspendTenant, ResumeTenant,
                 RemoveTenant, AddLink, RedeemLink, SweepExpired>;

struct RegistryContents {
  std::vector<ApiKey> keys;               // In id order.
  std::vector<RegisteredTenant> tenants;  // In order of their serial.
  std::vector<PortalLink> links;          // In order of their hash.

  bool operator==(const RegistryContents&) const = default;
};

}  // namespace postrider
