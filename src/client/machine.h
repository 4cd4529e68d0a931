// The clocks and the randomness of the client's process. The client library has no adapters: it
// runs inside another program.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/base/time.h"

namespace postrider::client {

[[nodiscard]] MonoTime mono_now();
[[nodiscard]] WallTime wall_now();

/// 32 hexadecimal digits. Fails with unavailable.
[[nodiscard]] Result<std::string> random_name();
/// Not for secrets. Fails with unavailable.
[[nodiscard]] Result<std::uint64_t> random_seed();

}  // namespace postrider::client
