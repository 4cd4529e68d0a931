#include "runtime/observability/latency_histogram.h"

#include <array>
#include <thread>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr std::array<Micros, 2> bounds{10ms, 2s};

TEST(LatencyHistogram, CountsUpToEachBoundAndBeyondTheLast) {
  LatencyHistogram histogram{bounds};
  for (const Micros duration : {Micros{0}, Micros{10ms}, Micros{10'001}, Micros{2s}, Micros{1h}}) {
    histogram.record(duration);
  }
  const HistogramSample sample = histogram.sample();
  ASSERT_EQ(sample.buckets.size(), 2u);
  EXPECT_EQ(sample.buckets[0].bound, 0.01);
  EXPECT_EQ(sample.buckets[0].count, 2u);
  EXPECT_EQ(sample.buckets[1].bound, 2);
  EXPECT_EQ(sample.buckets[1].count, 4u);
  EXPECT_EQ(sample.count, 5u);
  EXPECT_DOUBLE_EQ(sample.sum, 3602.020001);
}

TEST(LatencyHistogram, LosesNothingThatThreadsCountAtTheSameTime) {
  constexpr int count = 10'000;
  LatencyHistogram histogram{bounds};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < count; ++n) {
          histogram.record(1s);
        }
      });
    }
  }
  EXPECT_EQ(histogram.sample().count, 4u * count);
  EXPECT_EQ(histogram.sample().sum, 4 * count);
}

}  // namespace
}  // namespace postrider
