#include "core/base/decimal.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

TEST(JsonNumbers, AreComparedByValue) {
  struct Case {
    std::string_view smaller;
    std::string_view larger;
  };
  constexpr Case cases[] = {
      {"-1", "0"},
      {"0", "1"},
      {"-2", "-1"},
      {"9", "10"},
      {"0.1", "0.10000000000000000000000001"},
      {"9007199254740992", "9007199254740993"},
      {"-1e400", "1e-400"},
      {"1e-400", "1e400"},
      {"-1", "-1e-400"},
      {"0.09", "0.1"},
      {"99999999999999999999999998", "99999999999999999999999999"},
      {"1e99999", "1e100000"},
      {"1e99", "1e99999999999999999999999999"},
      {"1e-99999999999999999999999999", "1e-99"},
      {"-5.0e9", "5.0e9"},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(compare_json_numbers(c.smaller, c.larger) < 0) << c.smaller << " " << c.larger;
    EXPECT_TRUE(compare_json_numbers(c.larger, c.smaller) > 0) << c.smaller << " " << c.larger;
  }
}

TEST(JsonNumbers, AreEqualInEveryNotation) {
  const std::vector<std::vector<std::string_view>> spellings = {
      {"300", "300.0", "3.0e2", "3E+2", "30000e-2", "0.3e3", "0.0003e6"},
      {"0", "-0", "0.0", "0e99", "-0.000e-5"},
      {"-0.5", "-5e-1", "-0.50", "-50E-2"},
  };
  for (const auto& same : spellings) {
    for (const std::string_view left : same) {
      for (const std::string_view right : same) {
        EXPECT_TRUE(compare_json_numbers(left, right) == 0) << left << " " << right;
      }
    }
  }
}

RC_GTEST_PROP(JsonNumbers, CompareLikeIntegers, (std::int64_t left, std::int64_t right)) {
  RC_ASSERT(compare_json_numbers(std::to_string(left), std::to_string(right)) == (left <=> right));
}

TEST(JsonNumbers, MayHaveAHundredThousandDigits) {
  const std::string zeros(100'000, '0');
  EXPECT_TRUE(compare_json_numbers("1" + zeros, "1e100000") == 0);
  EXPECT_TRUE(compare_json_numbers("1" + zeros + "e-100000", "1.0") == 0);
  EXPECT_TRUE(compare_json_numbers("0." + zeros + "1e100001", "1") == 0);
  EXPECT_TRUE(compare_json_numbers("1" + zeros, "1" + zeros + ".1") < 0);
  EXPECT_TRUE(compare_json_numbers("-1" + zeros, "-1" + zeros + ".1") > 0);
}

TEST(JsonNumbers, MayHaveLeadingZerosInTheExponent) {
  const std::string zeros(50, '0');
  EXPECT_TRUE(compare_json_numbers("1e" + zeros + "5", "100000") == 0);
  EXPECT_TRUE(compare_json_numbers("1e-" + zeros + "5", "0.00001") == 0);
  EXPECT_TRUE(compare_json_numbers("1e+" + zeros, "1") == 0);
}

TEST(JsonNumbers, AreEqualBeyondTheLargestExponent) {
  EXPECT_TRUE(compare_json_numbers("1e999999999999", "1e1000000000000") < 0);
  EXPECT_TRUE(compare_json_numbers("1e1000000000000", "1e1000000000001") == 0);
  EXPECT_TRUE(compare_json_numbers("1e-999999999999", "1e-1000000000000") > 0);
  EXPECT_TRUE(compare_json_numbers("1e-1000000000000", "1e-99999999999999999999") == 0);
  EXPECT_TRUE(compare_json_numbers("0", "1e-99999999999999999999") < 0) << "still not zero";
}

// Formats `digits` × 10^`exponent` with the decimal point after the first `places` digits.
std::string format_number(std::uint64_t digits, std::size_t places, int exponent) {
  std::string text = std::to_string(digits);
  places = places % text.size();
  if (places > 0) {
    exponent += static_cast<int>(text.size() - places);
    text.insert(places, ".");
  }
  return text + "e" + std::to_string(exponent);
}

RC_GTEST_PROP(JsonNumbers, DoNotDependOnThePositionOfThePoint,
              (std::uint64_t left, std::uint64_t right, std::uint8_t places)) {
  const std::string moved = format_number(left, places, -7);
  const std::string plain = std::to_string(right) + "e-7";
  RC_ASSERT(compare_json_numbers(moved, plain) == (left <=> right));
  RC_ASSERT(compare_json_numbers("-" + moved, "-" + plain) == (right <=> left));
}

}  // namespace
}  // namespace postrider
