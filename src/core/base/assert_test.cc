#include "core/base/assert.h"

#include <csignal>

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(Assert, PrintsLocationAndExpressionBeforeAborting) {
  constexpr int three = 3;
  EXPECT_DEATH(POSTRIDER_ASSERT(three + 1 == 5),
               "assert_test\\.cc:[0-9]+: assertion failed: three \\+ 1 == 5");
  EXPECT_DEATH(assertion_failed("the expression", "some/file.cc", 42),
               "^some/file\\.cc:42: assertion failed: the expression");
}

TEST(Assert, AbortsWithSigabrtSoThatACoreCanBeDumped) {
  EXPECT_EXIT(assertion_failed("e", "f", 1), testing::KilledBySignal(SIGABRT), "");
}

TEST(Assert, EvaluatesATrueExpressionOnceAndContinues) {
  int evaluations = 0;
  POSTRIDER_ASSERT(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

TEST(Assert, IsASingleStatement) {
  bool other = false;
  const bool is_one = !other;
  if (is_one) {
    POSTRIDER_ASSERT(is_one);
  } else {
    other = true;
  }
  EXPECT_FALSE(other);
}

}  // namespace
}  // namespace postrider
