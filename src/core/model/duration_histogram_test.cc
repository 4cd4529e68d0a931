#include "core/model/duration_histogram.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

using Bucket = DurationHistogram::Bucket;

TEST(DurationHistogram, HasLogarithmicBuckets) {
  const struct {
    std::int64_t micros;
    int bucket;
    std::int64_t midpoint;
  } cases[] = {
      {-5, 0, 0},
      {0, 0, 0},
      {7, 7, 7},
      {8, 8, 8},
      {15, 15, 15},
      {16, 16, 16},
      {17, 16, 16},
      {18, 17, 18},
      {1'000, 63, 991},    // 960 … 1023
      {1'024, 64, 1'087},  // 1024 … 1151
      {1'000'000, 143, 1'015'807},
      {4'026'531'840, 239, 4'160'749'567},  // The start of the last bucket.
      {std::numeric_limits<std::int64_t>::max(), 239, 4'160'749'567},  // It has no upper bound.
  };
  for (const auto& c : cases) {
    const Bucket bucket = DurationHistogram::bucket_of(Micros{c.micros});
    EXPECT_EQ(bucket, c.bucket) << c.micros;
    EXPECT_EQ(DurationHistogram::midpoint_of(bucket).count(), c.midpoint) << c.micros;
  }
}

TEST(DurationHistogram, MidpointIsInItsBucketAndWithinSevenPercent) {
  for (int bucket = 0; bucket <= DurationHistogram::bucket_max; ++bucket) {
    const Micros midpoint = DurationHistogram::midpoint_of(static_cast<Bucket>(bucket));
    EXPECT_EQ(DurationHistogram::bucket_of(midpoint), bucket);
  }
  for (std::int64_t micros = 1; micros < 4'000'000'000; micros += micros / 50 + 1) {
    const Micros shown =
        DurationHistogram::midpoint_of(DurationHistogram::bucket_of(Micros{micros}));
    const double off = static_cast<double>(shown.count() - micros) / static_cast<double>(micros);
    EXPECT_LT(off, 0.07) << micros;
    EXPECT_GT(off, -0.07) << micros;
  }
}

TEST(DurationHistogram, PercentilesUseTheNearestRank) {
  DurationHistogram histogram;
  EXPECT_EQ(histogram.percentile(50), Micros{0});
  for (int i = 0; i < 99; ++i) {
    histogram.add(Micros{5});
  }
  histogram.add(Micros{7});
  EXPECT_EQ(histogram.count(), 100u);
  EXPECT_EQ(histogram.percentile(1), Micros{5});
  EXPECT_EQ(histogram.percentile(50), Micros{5});
  EXPECT_EQ(histogram.percentile(99), Micros{5});
  EXPECT_EQ(histogram.percentile(100), Micros{7});
  histogram.add(Micros{7});
  EXPECT_EQ(histogram.percentile(99), Micros{7}) << "the hundredth of 101";
}

TEST(DurationHistogram, PercentilesOfHugeCountsDoNotOverflow) {
  DurationHistogram histogram;
  histogram.add(Bucket{3}, std::uint64_t{1} << 62);
  histogram.add(Bucket{4}, 1);
  EXPECT_EQ(histogram.percentile(99), Micros{3});
  EXPECT_EQ(histogram.percentile(100), Micros{4});
}

TEST(DurationHistogram, AddingHistogramsEqualsCountingTogether) {
  DurationHistogram one;
  DurationHistogram other;
  DurationHistogram both;
  for (const std::int64_t micros : {3, 900, 70'000, 3}) {
    one.add(Micros{micros});
    both.add(Micros{micros});
  }
  for (const std::int64_t micros : {900, 5, 1'000'000}) {
    other.add(Micros{micros});
    both.add(Micros{micros});
  }
  one.add(other);
  EXPECT_EQ(one, both);
  EXPECT_EQ(one.buckets().size(), 5u);
}

TEST(DurationHistogram, KeepsOnlyNonemptyBucketsInOrder) {
  DurationHistogram histogram;
  histogram.add(Bucket{239}, 2);
  histogram.add(Bucket{0}, 1);
  histogram.add(Bucket{100}, 0);
  histogram.add(Bucket{9}, 4);
  histogram.add(Bucket{239}, 3);
  const std::vector<std::pair<Bucket, std::uint64_t>> want = {{0, 1}, {9, 4}, {239, 5}};
  EXPECT_EQ(histogram.buckets(), want);
  EXPECT_EQ(histogram.count(), 10u);
}

TEST(DurationHistogram, HasZeroPercentilesIfEmpty) {
  DurationHistogram histogram;
  histogram.add(Bucket{100}, 0);
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.percentile(1), Micros{0});
  EXPECT_EQ(histogram.percentile(100), Micros{0});
  EXPECT_EQ(histogram, DurationHistogram{});
}

TEST(DurationHistogram, AssertsValidBucketsAndPercentages) {
  DurationHistogram histogram;
  EXPECT_DEATH(histogram.add(Bucket{240}, 1), "bucket <= bucket_max");
  EXPECT_DEATH((void)DurationHistogram::midpoint_of(Bucket{240}), "bucket <= bucket_max");
  EXPECT_DEATH((void)histogram.percentile(0), "percent");
  EXPECT_DEATH((void)histogram.percentile(101), "percent");
}

RC_GTEST_PROP(DurationHistogram, BucketsGrowWithTheDuration, (std::int64_t one, std::int64_t two)) {
  const auto [shorter, longer] = std::minmax(one, two);
  RC_ASSERT(DurationHistogram::bucket_of(Micros{shorter}) <=
            DurationHistogram::bucket_of(Micros{longer}));
}

RC_GTEST_PROP(DurationHistogram, PercentilesMatchASortedList,
              (std::vector<std::uint16_t> durations, std::uint8_t drawn)) {
  RC_PRE(!durations.empty());
  const std::uint32_t percent = 1 + drawn % 100;
  DurationHistogram histogram;
  for (const std::uint16_t duration : durations) {
    histogram.add(Micros{duration});
  }
  std::ranges::sort(durations);
  const std::size_t rank = (durations.size() * percent + 99) / 100;
  const Bucket bucket = DurationHistogram::bucket_of(Micros{durations[rank - 1]});
  RC_ASSERT(histogram.percentile(percent) == DurationHistogram::midpoint_of(bucket));
}

}  // namespace
}  // namespace postrider
