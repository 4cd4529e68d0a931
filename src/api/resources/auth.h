// Authentication by `Authorization: Bearer <key>`, or by the session cookie if there is no such
// header. Keys and sessions are looked up by their hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/time.h"

#include "api/resources/context.h"

namespace postrider::api {

/// The scope that a route requires of a key that is not a tenant's. Scope `admin` includes all.
/// `session`: a session of any scope, and no key.
enum class Access : std::uint8_t { open, session, read, publish, admin };

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

/// Whether this is a session of a suspended tenant. Its portal is closed.
[[nodiscard]] bool is_shut_out(const ApiKey& key, const AccessSnapshot& access);

/// 401 with WWW-Authenticate.
[[nodiscard]] Problem unauthorized(std::string detail);

/// Finds a valid API key by its text. Fails with 401.
[[nodiscard]] Parsed<KeyRef> find_api_key(std::string_view text, const KeyCheck& check);

/// Returns who is calling. Fails with 401 without a valid key or session, and with 403 if its scope
/// or role does not suffice, its tenant's portal is closed, or a session changes something without
/// its CSRF token.
[[nodiscard]] Parsed<Caller> authenticate(const HttpRequest& request, Admission admission,
                                          const KeyCheck& check);

}  // namespace postrider::api
