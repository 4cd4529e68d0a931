// A histogram of durations with logarithmic buckets. Small enough to store one per webhook and five
// minutes; a percentile is off by less than seven percent. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/time.h"

namespace postrider {

class DurationHistogram {
 public:
  /// The index of a bucket. Below 8 µs a bucket is one microsecond wide; above, every doubling has
  /// eight buckets. The last bucket starts at about 67 minutes and has no upper bound.
  using Bucket = std::uint8_t;
  static constexpr Bucket bucket_max = 239;

  [[nodiscard]] static Bucket bucket_of(Micros duration);
  /// The midpoint of a bucket, which represents all durations in it.
  [[nodiscard]] static Micros midpoint_of(Bucket bucket);

  void add(Micros duration) { add(bucket_of(duration), 1); }
  void add(Bucket bucket, std::uint64_t count);
  void add(const DurationHistogram& other);

  [[nodiscard]] std::uint64_t count() const;
  /// The nearest-rank percentile: the midpoint of the first bucket such that at least `percent` of
  /// the durations are in it or below. Zero if the histogram is empty. `percent` is 1 to 100.
  [[nodiscard]] Micros percentile(std::uint32_t percent) const;

  /// The nonempty buckets and their counts, shortest durations first.
  [[nodiscard]] const std::vector<std::pair<Bucket, std::uint64_t>>& buckets() const {
    return buckets_;
  }

  bool operator==(const DurationHistogram&) const = default;

 private:
  std::vector<std::pair<Bucket, std::uint64_t>> buckets_;  // A webhook typically needs only a few.
};

}  // namespace postrider
