// Who may call: `Authorization: Bearer <key>`, looked up by its hash.
#pragma once

#include <cstdint>

#include <tl/expected.hpp>

#include "core/base/time.h"

#include "api/resources/context.h"

namespace postrider::api {

/// What a resource asks of a key that is not of one tenant: its scope is `admin` (everything),
/// `read` or `publish`.
enum class Access : std::uint8_t { open, read, publish, admin };

/// Whether a key of one tenant may call. Not unless the route says so: a resource must see the
/// world through its Context alone to be served to tenants (P11).
enum class Tenants : std::uint8_t { shut_out, served };

struct Admission {
  Access access = Access::admin;
  Tenants tenants = Tenants::shut_out;
};

/// Who asks, or the answer to give instead: 401 with WWW-Authenticate without a key that is known
/// and not expired, 403 when its scope is too small.
[[nodiscard]] tl::expected<Caller, HttpResponse> authenticate(const HttpRequest& request,
                                                              Admission admission,
                                                              const AccessSnapshot& access,
                                                              WallTime now);

}  // namespace postrider::api
