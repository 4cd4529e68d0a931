// Opens the vault that seals secrets, with the key from a file or the environment.
#pragma once

#include <memory>

#include "core/base/result.h"

#include "adapters/openssl/aes_vault.h"
#include "config/config.h"

namespace postrider {

/// Returns null if no key is configured; secrets are then stored in clear text. Fails with invalid
/// if the key cannot be used.
[[nodiscard]] Result<std::shared_ptr<AesVault>> open_vault(const config::SecretsConfig& secrets);

/// Reads the key file again. Does nothing if the key does not come from a file.
[[nodiscard]] Result<void> reload_vault(AesVault& vault, const config::SecretsConfig& secrets);

}  // namespace postrider
