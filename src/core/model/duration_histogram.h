// How long things took, as counts on a logarithmic scale: small enough to keep one per webhook and
// five minutes, exact enough that a percentile is off by less than seven per cent. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/time.h"

namespace postrider {

class DurationHistogram {
 public:
  /// Durations of one step look the same: below 8 µs a step is a microsecond, above it every
  /// doubling has eight steps. The last step has no upper end; it begins at about 67 minutes.
  using Step = std::uint8_t;
  static constexpr Step step_max = 239;

  [[nodiscard]] static Step step_of(Micros duration);
  /// The middle of a step, which stands for everything in it.
  [[nodiscard]] static Micros middle_of(Step step);

  void add(Micros duration) { add(step_of(duration), 1); }
  void add(Step step, std::uint64_t count);
  void add(const DurationHistogram& other);

  [[nodiscard]] std::uint64_t count() const;
  /// Nearest rank: the smallest step that at least so many per cent do not exceed. Zero when there
  /// is nothing. `percent` is 1 to 100.
  [[nodiscard]] Micros percentile(std::uint32_t percent) const;

  /// Steps that occur and how often, shortest first.
  [[nodiscard]] const std::vector<std::pair<Step, std::uint64_t>>& steps() const { return steps_; }

  bool operator==(const DurationHistogram&) const = default;

 private:
  std::vector<std::pair<Step, std::uint64_t>> steps_;  // A webhook's answers need a few of them.
};

}  // namespace postrider
