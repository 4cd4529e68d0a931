// SHA-256, random bytes and the comparison of secrets. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace postrider {

/// 32 raw bytes.
[[nodiscard]] std::string sha256(std::string_view text);

/// Cryptographically secure random bytes, suitable for keys. Aborts the process if the generator
/// fails, because guessable secrets would be worse.
[[nodiscard]] std::string random_bytes(std::size_t count);

/// The time does not depend on where the texts differ; it can reveal only their lengths. Texts of
/// different lengths are different.
[[nodiscard]] bool constant_time_equal(std::string_view a, std::string_view b);

}  // namespace postrider
