// The signing function of a webhook's scheme and secret.
#pragma once

#include <string>

#include "core/base/secret.h"
#include "core/request/request.h"
#include "core/request/signature.h"

namespace postrider {

/// Keyed once; keep it for as long as the secret lives. Copies share the key; any thread may call
/// them.
[[nodiscard]] Sign make_sign(SignatureScheme scheme, const Secret<std::string>& secret);

}  // namespace postrider
