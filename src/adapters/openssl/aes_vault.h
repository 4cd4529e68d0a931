// A vault that seals values with AES-256-GCM envelope encryption. Every value has its own data key.
// The data key is sealed with the operator's key and stored with the value and the id of the
// operator's key.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "ports/vault.h"

namespace postrider {

/// 32 bytes.
using VaultKey = Secret<std::string>;

/// Parses the operator's keys: 32 bytes each, in base64 or hex, separated by line breaks or commas.
/// A `#` in place of a key starts a comment up to the end of the line. The first key seals and
/// opens, the others only open. Fails with invalid; the message does not contain any part of the
/// text (P11).
[[nodiscard]] Result<std::vector<VaultKey>> parse_vault_keys(std::string_view text);

class AesVault : public Vault {
 public:
  /// Replaces all keys; the first of them seals from now on. Fails with invalid, and changes
  /// nothing, if `keys` does not contain the current sealing key, because values sealed with it
  /// could not be opened any more. `keys` must not be empty. Not thread-safe: no other thread may
  /// seal or open.
  [[nodiscard]] virtual Result<void> replace_keys(std::vector<VaultKey> keys) = 0;
};

/// `keys` must not be empty. The first key seals.
[[nodiscard]] std::shared_ptr<AesVault> make_aes_vault(std::vector<VaultKey> keys);

}  // namespace postrider
