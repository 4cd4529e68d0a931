#include "core/model/duration_histogram.h"

#include <algorithm>
#include <bit>

#include "core/base/assert.h"

namespace postrider {
namespace {

constexpr unsigned bits_kept = 3;  // Behind the leading one: eight steps a doubling.
constexpr std::uint64_t exact_below = 1u << bits_kept;

}  // namespace

DurationHistogram::Step DurationHistogram::step_of(Micros duration) {
  const auto value = static_cast<std::uint64_t>(std::max<Micros::rep>(duration.count(), 0));
  if (value < exact_below) {
    return static_cast<Step>(value);
  }
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - bits_kept;
  const std::uint64_t step = shift * exact_below + (value >> shift);
  return static_cast<Step>(std::min<std::uint64_t>(step, step_max));
}

Micros DurationHistogram::middle_of(Step step) {
  POSTRIDER_ASSERT(step <= step_max);
  if (step < exact_below) {
    return Micros{step};
  }
  const unsigned shift = static_cast<unsigned>(step / exact_below) - 1;
  const std::uint64_t first = (exact_below + step % exact_below) << shift;
  const std::uint64_t width = std::uint64_t{1} << shift;
  return Micros{static_cast<Micros::rep>(first + (width - 1) / 2)};
}

void DurationHistogram::add(Step step, std::uint64_t count) {
  POSTRIDER_ASSERT(step <= step_max);
  if (count == 0) {
    return;  // A step that does not occur would make a percentile of nothing.
  }
  const auto place =
      std::ranges::lower_bound(steps_, step, {}, &std::pair<Step, std::uint64_t>::first);
  if (place != steps_.end() && place->first == step) {
    place->second += count;
  } else {
    steps_.insert(place, {step, count});
  }
}

void DurationHistogram::add(const DurationHistogram& other) {
  for (const auto& [step, count] : other.steps_) {
    add(step, count);
  }
}

std::uint64_t DurationHistogram::count() const {
  std::uint64_t total = 0;
  for (const auto& [step, count] : steps_) {
    total += count;
  }
  return total;
}

Micros DurationHistogram::percentile(std::uint32_t percent) const {
  POSTRIDER_ASSERT(1 <= percent && percent <= 100);
  const std::uint64_t total = count();
  // Rounded up, in a way that does not overflow.
  const std::uint64_t rank = total / 100 * percent + (total % 100 * percent + 99) / 100;
  std::uint64_t seen = 0;
  for (const auto& [step, count] : steps_) {
    seen += count;
    if (seen >= rank) {
      return middle_of(step);
    }
  }
  return Micros{0};
}

}  // namespace postrider
