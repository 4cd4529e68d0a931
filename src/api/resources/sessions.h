// What sign-in links and sessions share.
#pragma once

#include <string>

#include "core/base/secret.h"

#include "api/resources/context.h"

namespace postrider::api {

/// The page opens a session with the token. It is in the fragment: browsers do not send that, so it
/// reaches no log.
[[nodiscard]] inline Secret<std::string> link_url(const std::string& origin,
                                                  const Secret<std::string>& token) {
  return Secret<std::string>{origin + "/#token=" + token.reveal()};
}

/// Fails with 403 if the tenant is suspended. A link of a suspended tenant is kept: it can be used
/// after the tenant is resumed.
[[nodiscard]] Parsed<void> check_portal_open(const AccessSnapshot& access,
                                             const TenantId& tenant_id);

}  // namespace postrider::api
