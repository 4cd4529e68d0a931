// Who may call: `Authorization: Bearer <key>`, checked against the hashes of the known keys.
#pragma once

#include <optional>
#include <vector>

#include "ports/catalog.h"

#include "api/context.h"

namespace postrider::api {

/// What a resource asks for. A key's scope is `admin` (everything), `read` or `publish`.
enum class Access : std::uint8_t { open, read, publish, admin };

/// nullopt: go on. 401 with WWW-Authenticate without a known key, 403 when its scope is too small.
[[nodiscard]] std::optional<HttpResponse> refuse_access(const HttpRequest& request, Access access,
                                                        const std::vector<ApiKey>& keys);

}  // namespace postrider::api
