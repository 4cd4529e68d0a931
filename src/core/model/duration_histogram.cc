#include "core/model/duration_histogram.h"

#include <algorithm>
#include <bit>

#include "core/base/assert.h"

namespace postrider {
namespace {

constexpr unsigned bits_kept = 3;  // After the leading one bit: eight buckets per doubling.
constexpr std::uint64_t exact_below = 1u << bits_kept;

}  // namespace

DurationHistogram::Bucket DurationHistogram::bucket_of(Micros duration) {
  const auto value = static_cast<std::uint64_t>(std::max<Micros::rep>(duration.count(), 0));
  if (value < exact_below) {
    return static_cast<Bucket>(value);
  }
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - bits_kept;
  const std::uint64_t bucket = shift * exact_below + (value >> shift);
  return static_cast<Bucket>(std::min<std::uint64_t>(bucket, bucket_max));
}

Micros DurationHistogram::midpoint_of(Bucket bucket) {
  POSTRIDER_ASSERT(bucket <= bucket_max);
  if (bucket < exact_below) {
    return Micros{bucket};
  }
  const unsigned shift = static_cast<unsigned>(bucket / exact_below) - 1;
  const std::uint64_t first = (exact_below + bucket % exact_below) << shift;
  const std::uint64_t width = std::uint64_t{1} << shift;
  return Micros{static_cast<Micros::rep>(first + (width - 1) / 2)};
}

void DurationHistogram::add(Bucket bucket, std::uint64_t count) {
  POSTRIDER_ASSERT(bucket <= bucket_max);
  if (count == 0) {
    return;  // An empty bucket must not become a percentile.
  }
  const auto position =
      std::ranges::lower_bound(buckets_, bucket, {}, &std::pair<Bucket, std::uint64_t>::first);
  if (position != buckets_.end() && position->first == bucket) {
    position->second += count;
  } else {
    buckets_.insert(position, {bucket, count});
  }
}

void DurationHistogram::add(const DurationHistogram& other) {
  for (const auto& [bucket, count] : other.buckets_) {
    add(bucket, count);
  }
}

std::uint64_t DurationHistogram::count() const {
  std::uint64_t total = 0;
  for (const auto& [bucket, count] : buckets_) {
    total += count;
  }
  return total;
}

Micros DurationHistogram::percentile(std::uint32_t percent) const {
  POSTRIDER_ASSERT(1 <= percent && percent <= 100);
  const std::uint64_t total = count();
  // ceil(total * percent / 100), computed without overflow.
  const std::uint64_t rank = total / 100 * percent + (total % 100 * percent + 99) / 100;
  std::uint64_t seen = 0;
  for (const auto& [bucket, count] : buckets_) {
    seen += count;
    if (seen >= rank) {
      return midpoint_of(bucket);
    }
  }
  return Micros{0};
}

}  // namespace postrider
