// Authentication by `Authorization: Bearer <key>`. A key is looked up by its hash.
#pragma once

#include <cstdint>

#include "core/base/time.h"

#include "api/resources/context.h"

namespace postrider::api {

/// The scope that a route requires of a key that is not a tenant's. Scope `admin` includes all.
enum class Access : std::uint8_t { open, read, publish, admin };

/// Whether a tenant's key may call. A route that serves tenants must reach data through its Context
/// only (P11).
enum class Tenants : std::uint8_t { shut_out, served };

struct Admission {
  Access access = Access::admin;
  Tenants tenants = Tenants::shut_out;
};

/// What a key is checked against.
struct KeyCheck {
  const AccessSnapshot& access;
  const Crypto& crypto;
  WallTime now;
};

/// Whether the key belongs to a portal session of a suspended tenant. Its portal is closed.
[[nodiscard]] bool is_shut_out(const ApiKey& key, const AccessSnapshot& access);

/// Returns who is calling. Fails with 401 and WWW-Authenticate without a valid key, and with 403 if
/// the key's scope or role does not suffice or its tenant's portal is closed.
[[nodiscard]] Parsed<Caller> authenticate(const HttpRequest& request, Admission admission,
                                          const KeyCheck& check);

}  // namespace postrider::api
