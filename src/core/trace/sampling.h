// Which traces are sampled. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/model/trace.h"

namespace postrider {

/// True for the given share of all trace ids: 0 for none, 1 for all. Depends on the id only, so all
/// servers with the same ratio choose the same traces. A trace that is chosen at one ratio is also
/// chosen at every higher one. Uses the lower 56 bits, which are random in the ids that are made
/// here and in those of other programs (W3C Trace Context Level 2).
[[nodiscard]] constexpr bool is_in_sample(const TraceId& id, double ratio) {
  constexpr std::size_t first = 9;
  std::uint64_t random = 0;
  for (std::size_t i = first; i < id.bytes.size(); ++i) {
    random = random << 8 | id.bytes[i];
  }
  // A double represents 53 bits exactly.
  return static_cast<double>(random >> 3) >= (1 - ratio) * 0x1.0p53;
}

}  // namespace postrider
