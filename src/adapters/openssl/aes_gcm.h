// AES-256-GCM over whole values: encrypts, and notices any change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace postrider {

constexpr std::size_t aes_key_bytes = 32;
constexpr std::size_t aes_overhead_bytes = 12 + 16;  // A random nonce before, a tag behind.

/// Nonce, ciphertext and tag. `bound` is not in there but must be the same to open it.
[[nodiscard]] std::string aes_seal(std::string_view key, std::string_view plain,
                                   std::string_view bound);

/// nullopt: not sealed with this key and `bound`, or changed since.
[[nodiscard]] std::optional<std::string> aes_open(std::string_view key, std::string_view sealed,
                                                  std::string_view bound);

}  // namespace postrider
