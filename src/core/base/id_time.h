// The time at which an id was created, which is part of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace postrider {

/// The wall time, to the millisecond.
template <class Kind>
[[nodiscard]] constexpr WallTime created_at(const Id<Kind>& id) {
  std::int64_t unix_ms = 0;
  for (std::size_t byte = 0; byte < 6; ++byte) {
    unix_ms = unix_ms * 256 + id.bytes[byte];
  }
  return wall_from_unix_ms(unix_ms);
}

}  // namespace postrider
