// Hashes, random bytes and the comparison of secrets. Any thread may call these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace postrider {

/// 32 raw bytes.
[[nodiscard]] std::string sha256(std::string_view text);

/// From the operating system's generator, fit for keys. Stops the process when there is no entropy:
/// going on with guessable secrets would be worse.
[[nodiscard]] std::string random_bytes(std::size_t count);

/// Takes as long for the first byte's difference as for the last one's. Texts of different length
/// are different; only their lengths can be learned from the time it takes.
[[nodiscard]] bool constant_time_equal(std::string_view a, std::string_view b);

}  // namespace postrider
