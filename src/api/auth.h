// Who may call: `Authorization: Bearer <key>`, checked against the hashes of the known keys.
#pragma once

#include <vector>

#include <tl/expected.hpp>

#include "ports/catalog.h"

#include "api/context.h"

namespace postrider::api {

/// What a resource asks for. A key's scope is `admin` (everything), `read` or `publish`.
enum class Access : std::uint8_t { open, read, publish, admin };

/// Who asks, or the answer to give instead: 401 with WWW-Authenticate without a known key, 403 when
/// its scope is too small.
[[nodiscard]] tl::expected<Caller, HttpResponse> authenticate(const HttpRequest& request,
                                                              Access access,
                                                              const std::vector<ApiKey>& keys);

}  // namespace postrider::api
