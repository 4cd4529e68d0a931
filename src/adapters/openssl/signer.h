// The signing function of a webhook's scheme and secret.
#pragma once

#include <string>

#include "core/request.h"
#include "core/secret.h"
#include "core/signature.h"

namespace postrider {

/// Keyed once; keep it for as long as the secret lives. Copies share the key; any thread may call
/// them.
[[nodiscard]] Sign make_sign(SignatureScheme scheme, const Secret<std::string>& secret);

}  // namespace postrider
