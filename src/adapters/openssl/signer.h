// Makes the signing function for a signature scheme and a secret.
#pragma once

#include <string>

#include "core/base/secret.h"
#include "core/request/request.h"
#include "core/request/signature.h"

namespace postrider {

/// Making it is expensive; keep it as long as the secret is used. Copies share the key. Any thread
/// may call them.
[[nodiscard]] Sign make_sign(SignatureScheme scheme, const Secret<std::string>& secret);

}  // namespace postrider
