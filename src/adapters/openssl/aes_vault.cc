#include "adapters/openssl/aes_vault.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/trim.h"
#include "core/request/signature.h"

#include "adapters/openssl/aes_gcm.h"
#include "adapters/openssl/digest.h"

namespace postrider {
namespace {

// The layout of a sealed value: version, key id, sealed data key, sealed bytes.
constexpr char version = '\x01';
constexpr std::size_t key_id_bytes = 8;
constexpr std::size_t head_bytes = 1 + key_id_bytes;
constexpr std::size_t sealed_key_bytes = aes_key_bytes + aes_overhead_bytes;

struct NamedKey {
  std::string id;
  VaultKey key;
};

/// Identifies the key without revealing anything about it.
std::string id_of(const VaultKey& key) {
  return sha256("postrider vault key id\n" + key.reveal()).substr(0, key_id_bytes);
}

std::vector<NamedKey> named(std::vector<VaultKey> keys) {
  POSTRIDER_ASSERT(!keys.empty());
  std::vector<NamedKey> result;
  for (VaultKey& key : keys) {
    POSTRIDER_ASSERT(key.reveal().size() == aes_key_bytes);
    result.push_back({.id = id_of(key), .key = std::move(key)});
  }
  return result;
}

class EnvelopeVault final : public AesVault {
 public:
  explicit EnvelopeVault(std::vector<VaultKey> keys) : keys_(named(std::move(keys))) {}

  Result<void> replace_keys(std::vector<VaultKey> keys) override {
    std::vector<NamedKey> next = named(std::move(keys));
    if (std::ranges::find(next, keys_.front().id, &NamedKey::id) == next.end()) {
      return fail(Errc::invalid,
                  fmt::format("The key {} is in use. Keep it after the new key until all values "
                              "are sealed with the new key.",
                              to_hex(keys_.front().id)));
    }
    keys_ = std::move(next);
    return {};
  }

  [[nodiscard]] std::string seal(std::string_view plain, std::string_view context) const override {
    const NamedKey& current = keys_.front();
    const std::string head = version + current.id;
    const std::string data_key = random_bytes(aes_key_bytes);
    // Both parts are bound to the head, so the key id cannot be replaced.
    const std::string bound = head + std::string{context};
    return head + aes_seal(current.key.reveal(), data_key, bound) +
           aes_seal(data_key, plain, bound);
  }

  [[nodiscard]] Result<std::string> open(std::string_view sealed,
                                         std::string_view context) const override {
    if (sealed.size() < head_bytes + sealed_key_bytes || sealed.front() != version) {
      return damaged();
    }
    const std::string_view head = sealed.substr(0, head_bytes);
    const auto key = std::ranges::find(keys_, head.substr(1), &NamedKey::id);
    if (key == keys_.end()) {
      return fail(Errc::invalid,
                  fmt::format("The stored secrets are sealed with the key {}, which is not "
                              "configured. Add it to the key file (see --secrets-key-file).",
                              to_hex(head.substr(1))));
    }
    const std::string bound = std::string{head} + std::string{context};
    const std::optional<std::string> data_key =
        aes_open(key->key.reveal(), sealed.substr(head_bytes, sealed_key_bytes), bound);
    const std::optional<std::string> plain =
        data_key ? aes_open(*data_key, sealed.substr(head_bytes + sealed_key_bytes), bound)
                 : std::nullopt;
    return plain ? Result<std::string>{*plain} : damaged();
  }

  [[nodiscard]] bool is_current(std::string_view sealed) const override {
    return sealed.size() >= head_bytes && sealed.front() == version &&
           sealed.substr(1, key_id_bytes) == keys_.front().id;
  }

 private:
  static tl::unexpected<Error> damaged() {
    return fail(Errc::corrupt, "A sealed value in the store is damaged or was moved.");
  }

  std::vector<NamedKey> keys_;
};

std::optional<std::string> from_hex(std::string_view text) {
  const auto digit = [](char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    const char lower = 'A' <= c && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    return digits.find(lower);
  };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const std::size_t high = digit(text[i]);
    const std::size_t low = digit(text[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

std::optional<std::string> parse_key(std::string_view text) {
  const std::optional<std::string> key =
      text.size() == 2 * aes_key_bytes ? from_hex(text) : from_base64(text);
  return key && key->size() == aes_key_bytes ? key : std::nullopt;
}

}  // namespace

Result<std::vector<VaultKey>> parse_vault_keys(std::string_view text) {
  std::vector<VaultKey> keys;
  text = trim(text, white_space);
  while (!text.empty()) {
    const bool comment = text.starts_with('#');
    const std::size_t end = std::min(text.find_first_of(comment ? "\n" : "\n,"), text.size());
    const std::string_view item = trim(text.substr(0, end), white_space);
    text = trim(text.substr(std::min(end + 1, text.size())), white_space);
    if (item.empty() || comment) {
      continue;
    }
    std::optional<std::string> key = parse_key(item);
    if (!key) {
      return fail(Errc::invalid,
                  fmt::format("Key {} is not 32 bytes in base64 (44 characters) or hex (64).",
                              keys.size() + 1));
    }
    keys.emplace_back(*std::move(key));
  }
  if (keys.empty()) {
    return fail(Errc::invalid, "There is no key. A key has 32 bytes in base64 or hex.");
  }
  return keys;
}

std::shared_ptr<AesVault> make_aes_vault(std::vector<VaultKey> keys) {
  return std::make_shared<EnvelopeVault>(std::move(keys));
}

}  // namespace postrider
