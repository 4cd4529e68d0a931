// Seals with AES-256-GCM. Every value has a data key of its own; the data key is sealed under the
// operator's key and stored beside the value, together with the id of the operator's key.
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

/// Keys as an operator writes them: each 32 bytes in base64 or hex, separated by line ends or
/// commas. Lines that begin with `#` are comments. The first is the current one, the others only
/// open. Fails with invalid; the message repeats no part of the text (P11).
[[nodiscard]] Result<std::vector<VaultKey>> parse_vault_keys(std::string_view text);

class AesVault : public Vault {
 public:
  /// From now on the first of these seals. Fails with invalid, and changes nothing, unless the key
  /// that sealed until now is among them: what it sealed could not be opened any more. `keys` is
  /// not empty. Not while another thread seals or opens.
  [[nodiscard]] virtual Result<void> replace_keys(std::vector<VaultKey> keys) = 0;
};

/// `keys` is not empty; the first seals.
[[nodiscard]] std::shared_ptr<AesVault> make_aes_vault(std::vector<VaultKey> keys);

}  // namespace postrider
