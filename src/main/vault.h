// The key that secrets are sealed with, from the file or the environment the operator named.
#pragma once

#include <memory>

#include "core/base/result.h"

#include "adapters/openssl/aes_vault.h"
#include "config/config.h"

namespace postrider {

/// Null when no key was given: secrets are then stored in clear text. Fails with invalid when a key
/// was given and cannot be used.
[[nodiscard]] Result<std::shared_ptr<AesVault>> open_vault(const config::SecretsConfig& secrets);

/// Reads the key file again. Without a file the keys stay as they are.
[[nodiscard]] Result<void> reload_vault(AesVault& vault, const config::SecretsConfig& secrets);

}  // namespace postrider
