#include "core/policy/repeated_failure.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{1h};

TEST(RepeatedFailure, IsLoggedAtOnceAndThenOncePerPeriodWithACount) {
  RepeatedFailure failure{10s};
  EXPECT_EQ(failure.failed(start), 1u);
  EXPECT_EQ(failure.failed(start + 1s), std::nullopt);
  EXPECT_EQ(failure.failed(start + 9'999ms), std::nullopt);
  EXPECT_EQ(failure.failed(start + 10s), 3u);
  EXPECT_EQ(failure.failed(start + 19s), std::nullopt);
  EXPECT_EQ(failure.failed(start + 60s), 2u);
}

TEST(RepeatedFailure, BeginsANewRowAfterASuccess) {
  RepeatedFailure failure{10s};
  EXPECT_EQ(failure.failed(start), 1u);
  EXPECT_EQ(failure.failed(start + 1s), std::nullopt);
  failure.succeeded();
  EXPECT_EQ(failure.failed(start + 2s), 1u);
}

}  // namespace
}  // namespace postrider
