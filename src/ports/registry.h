// Tenants, API keys and portal links: small tables, read whole at start and kept in memory.
//
// The store only keeps them; which change is allowed is decided by runtime/admin/access_snapshot.h.
// The specification is tests/contract/registry_contract.cc. Calls block; used by the store thread
// only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/event.h"

namespace postrider {

/// `admin` may do everything, `tenant` everything of one tenant and nothing else.
enum class KeyScope : std::uint8_t { admin, publish, read, tenant };

struct ApiKey {
  KeyId id;
  std::string name;
  std::string sha256;  // Of the key; the key itself is never stored. 32 raw bytes.
  KeyScope scope = KeyScope::admin;
  TenantId tenant_id = {};  // Of a `tenant` key alone.
  WallTime created_at;
  std::optional<WallTime> expires_at = std::nullopt;
  std::optional<WallTime> last_used_at = std::nullopt;  // Up to a minute old.
  bool portal_session = false;                          // Made from a portal link; swept.

  bool operator==(const ApiKey&) const = default;
};

struct TenantKind {
  static constexpr std::string_view prefix = "tnt_";
};
/// When it was registered, as an id: what tenants are sorted by.
using TenantSerial = Id<TenantKind>;

/// nullopts do not limit.
struct TenantLimits {
  std::optional<std::uint32_t> webhooks_max;
  std::optional<std::uint32_t> events_per_minute;

  bool operator==(const TenantLimits&) const = default;
};

/// What is to become of the limits. Outer nullopts leave a limit as it is.
struct LimitsChange {
  std::optional<std::optional<std::uint32_t>> webhooks_max = std::nullopt;
  std::optional<std::optional<std::uint32_t>> events_per_minute = std::nullopt;
};

[[nodiscard]] inline TenantLimits changed_limits(const TenantLimits& limits,
                                                 const LimitsChange& change) {
  return {.webhooks_max = change.webhooks_max.value_or(limits.webhooks_max),
          .events_per_minute = change.events_per_minute.value_or(limits.events_per_minute)};
}

struct RegisteredTenant {
  TenantId id;
  TenantSerial serial;
  std::optional<std::string> name;
  std::string metadata = "{}";      // A JSON object, verbatim.
  std::optional<std::string> pool;  // Which nodes work for it.
  TenantLimits limits;
  WallTime created_at;

  bool operator==(const RegisteredTenant&) const = default;
};

/// Opens one portal session, once.
struct PortalLink {
  std::string sha256;  // Of its token. 32 raw bytes.
  TenantId tenant_id;
  Millis session{0};  // How long the session lives.
  WallTime expires_at;

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
/// A change, not the limits that come of it: others may change other limits at the same time.
struct SetLimits {
  TenantId tenant_id;
  LimitsChange change;
};
/// With its keys and portal links.
struct RemoveTenant {
  TenantId tenant_id;
};
struct AddLink {
  PortalLink link;
};
/// The link goes, the session's key comes. Fails with not_found when the link is gone already.
struct RedeemLink {
  std::string sha256;
  ApiKey session;
};
/// Links and portal sessions that expired at `now` or before.
struct SweepExpired {
  WallTime now;
};

using RegistryChange = std::variant<AddKey, RemoveKey, NoteKeyUses, AddTenant, SetLimits,
                                    RemoveTenant, AddLink, RedeemLink, SweepExpired>;

struct RegistryContents {
  std::vector<ApiKey> keys;               // In id order.
  std::vector<RegisteredTenant> tenants;  // In order of their serial.
  std::vector<PortalLink> links;          // In order of their hash.

  bool operator==(const RegistryContents&) const = default;
};

class Registry {
 public:
  virtual ~Registry() = default;

  [[nodiscard]] virtual Result<RegistryContents> load() = 0;

  /// In the transaction that is open or one of its own. What is added replaces what has its id;
  /// what is changed or removed may be missing, except the link of a RedeemLink.
  [[nodiscard]] virtual Result<void> apply(const RegistryChange& change) = 0;

 protected:
  Registry() = default;
  Registry(const Registry&) = default;
  Registry& operator=(const Registry&) = default;
};

}  // namespace postrider
