#include "main/vault.h"

#include <array>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace postrider {
namespace {

constexpr std::size_t key_file_bytes_max = 64u << 10;  // Enough for hundreds of keys.

Result<std::string> read_key_file(const std::string& name) {
  std::ifstream file{name, std::ios::binary};
  std::string text(key_file_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad() || (!file.eof() && text.size() <= key_file_bytes_max)) {
    return fail(Errc::invalid, fmt::format("The secrets key file {} cannot be read.", name));
  }
  if (text.size() > key_file_bytes_max) {
    return fail(Errc::invalid, fmt::format("The secrets key file {} is larger than {} bytes.", name,
                                           key_file_bytes_max));
  }
  return text;
}

Result<std::vector<VaultKey>> read_keys(std::string_view text, std::string_view source) {
  Result<std::vector<VaultKey>> keys = parse_vault_keys(text);
  if (!keys) {
    return fail(Errc::invalid, fmt::format("{}: {}", source, keys.error().message));
  }
  return keys;
}

Result<std::vector<VaultKey>> read_keys_from(const std::string& file) {
  POSTRIDER_TRY(const std::string text, read_key_file(file));
  return read_keys(text, file);
}

}  // namespace

Result<std::shared_ptr<AesVault>> open_vault(const config::SecretsConfig& secrets) {
  if (!secrets.key_file.empty() && secrets.key) {
    return fail(Errc::invalid,
                "Set the secrets key in a file or in POSTRIDER_SECRETS_KEY, not in both.");
  }
  if (!secrets.key_file.empty()) {
    return read_keys_from(secrets.key_file).map(make_aes_vault);
  }
  if (secrets.key) {
    return read_keys(secrets.key->reveal(), "POSTRIDER_SECRETS_KEY").map(make_aes_vault);
  }
  return std::shared_ptr<AesVault>{};
}

Result<void> reload_vault(AesVault& vault, const config::SecretsConfig& secrets) {
  if (secrets.key_file.empty()) {
    return {};
  }
  POSTRIDER_TRY(std::vector<VaultKey> keys, read_keys_from(secrets.key_file));
  return vault.replace_keys(std::move(keys));
}

}  // namespace postrider
