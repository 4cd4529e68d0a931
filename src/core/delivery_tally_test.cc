#include "core/delivery_tally.h"

#include <limits>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using Step = DurationHistogram::Step;

Attempt attempt(std::uint32_t number, std::optional<FailureCategory> failure, Micros duration) {
  Attempt made{.number = number};
  made.failure_category = failure;
  made.outcome.duration = duration;
  return made;
}

TEST(DurationHistogram, PutsDurationsOnALogarithmicScale) {
  const struct {
    std::int64_t micros;
    int step;
    std::int64_t middle;
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
      {4'026'531'840, 239, 4'160'749'567},  // The last step begins here …
      {std::numeric_limits<std::int64_t>::max(), 239, 4'160'749'567},  // … and never ends.
  };
  for (const auto& c : cases) {
    const Step step = DurationHistogram::step_of(Micros{c.micros});
    EXPECT_EQ(step, c.step) << c.micros;
    EXPECT_EQ(DurationHistogram::middle_of(step).count(), c.middle) << c.micros;
  }
}

TEST(DurationHistogram, EveryStepHoldsItsOwnMiddleAndIsNeverMoreThanSevenPerCentOff) {
  for (int step = 0; step <= DurationHistogram::step_max; ++step) {
    const Micros middle = DurationHistogram::middle_of(static_cast<Step>(step));
    EXPECT_EQ(DurationHistogram::step_of(middle), step);
  }
  for (std::int64_t micros = 1; micros < 4'000'000'000; micros += micros / 50 + 1) {
    const Micros shown = DurationHistogram::middle_of(DurationHistogram::step_of(Micros{micros}));
    const double off = static_cast<double>(shown.count() - micros) / static_cast<double>(micros);
    EXPECT_LT(off, 0.07) << micros;
    EXPECT_GT(off, -0.07) << micros;
  }
}

TEST(DurationHistogram, PercentilesAreTheNearestRank) {
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

TEST(DurationHistogram, AHugeCountDoesNotOverflowTheRank) {
  DurationHistogram histogram;
  histogram.add(Step{3}, std::uint64_t{1} << 62);
  histogram.add(Step{4}, 1);
  EXPECT_EQ(histogram.percentile(99), Micros{3});
  EXPECT_EQ(histogram.percentile(100), Micros{4});
}

TEST(DurationHistogram, AddingUpIsTheSameAsHavingCountedTogether) {
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
  EXPECT_EQ(one.steps().size(), 5u);
}

TEST(DeliveryTally, CountsAttemptsByWhatCameOfThem) {
  DeliveryTally tally;
  EXPECT_TRUE(tally.empty());
  tally.add(attempt(1, FailureCategory::timeout, Micros{100}));
  tally.add(attempt(2, FailureCategory::timeout, Micros{200}));
  tally.add(attempt(3, std::nullopt, Micros{300}));
  EXPECT_EQ(tally.attempts, 3u);
  EXPECT_EQ(tally.succeeded, 1u);
  EXPECT_EQ(tally.failed(), 2u);
  EXPECT_EQ(tally.retries, 2u);
  EXPECT_EQ(tally.failures[static_cast<std::size_t>(FailureCategory::timeout)], 2u);
  EXPECT_EQ(tally.duration_total, Micros{600});
  EXPECT_EQ(tally.durations.count(), 3u);
  EXPECT_FALSE(tally.empty());

  DeliveryTally twice = tally;
  twice.published = 1;
  twice.add(tally);
  EXPECT_EQ(twice.published, 1u);
  EXPECT_EQ(twice.attempts, 6u);
  EXPECT_EQ(twice.failures[static_cast<std::size_t>(FailureCategory::timeout)], 4u);
  EXPECT_EQ(twice.duration_total, Micros{1'200});
  EXPECT_EQ(twice.durations.count(), 6u);
}

}  // namespace
}  // namespace postrider
