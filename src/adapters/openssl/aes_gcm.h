// AES-256-GCM for whole values: encrypts them and detects any change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace postrider {

constexpr std::size_t aes_key_bytes = 32;
constexpr std::size_t aes_overhead_bytes = 12 + 16;  // Random nonce and authentication tag.

/// Returns nonce, ciphertext and tag. `bound` is the additional authenticated data: it is not part
/// of the result, but aes_open needs the same value.
[[nodiscard]] std::string aes_seal(std::string_view key, std::string_view plain,
                                   std::string_view bound);

/// Returns nullopt if `sealed` was not sealed with this key and `bound`, or was changed.
[[nodiscard]] std::optional<std::string> aes_open(std::string_view key, std::string_view sealed,
                                                  std::string_view bound);

}  // namespace postrider
