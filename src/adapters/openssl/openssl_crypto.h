// The Crypto port on OpenSSL.
#pragma once

#include "ports/crypto.h"

namespace postrider {

/// Lives as long as the process. Any thread.
[[nodiscard]] const Crypto& openssl_crypto();

}  // namespace postrider
