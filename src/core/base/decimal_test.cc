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

TEST(JsonNumbers, WholeNumbers) {
  for (const std::string_view whole : {"0", "-0.0", "3", "3.0", "3e2", "12.50e1", "1e400", "-7"}) {
    EXPECT_TRUE(is_whole_json_number(whole)) << whole;
  }
  for (const std::string_view other : {"0.5", "3.01", "12.505e1", "1e-300", "10e-2"}) {
    EXPECT_FALSE(is_whole_json_number(other)) << other;
  }
}

TEST(JsonNumbers, EqualNumbersHaveOneCanonicalText) {
  const auto canonical = [](std::string_view number) {
    std::string text;
    append_canonical_json_number(text, number);
    return text;
  };
  EXPECT_EQ(canonical("0"), canonical("-0.00e7"));
  EXPECT_EQ(canonical("300"), canonical("3.00e2"));
  EXPECT_EQ(canonical("-0.015"), canonical("-15E-3"));
  EXPECT_NE(canonical("1e400"), canonical("1e401"));
  EXPECT_NE(canonical("1"), canonical("-1"));
  EXPECT_NE(canonical("9007199254740993"), canonical("9007199254740992"));
}

TEST(JsonDivisor, IsPositiveAndShort) {
  for (const std::string_view refused :
       {"0", "0.0", "-0.0", "0e5", "-1", "-1e-300", "1.234567890123456789"}) {
    EXPECT_FALSE(JsonDivisor::read(refused)) << refused;
  }
  for (const std::string_view accepted :
       {"1", "0.1", "1e-300", "1e400", "123456789012345678", "1000000000000000000000000"}) {
    EXPECT_TRUE(JsonDivisor::read(accepted)) << accepted;
  }
}

TEST(JsonDivisor, DividesExactly) {
  const auto divides = [](std::string_view divisor, std::string_view number) {
    return JsonDivisor::read(divisor)->divides(number);
  };
  EXPECT_TRUE(divides("0.1", "0.3"));
  EXPECT_TRUE(divides("0.01", "19.99"));
  EXPECT_TRUE(divides("1", "-9223372036854775808"));
  EXPECT_TRUE(divides("7", "0"));
  EXPECT_TRUE(divides("1e-300", "1e400"));
  EXPECT_TRUE(divides("8", "1e999999999999999999999"));
  EXPECT_TRUE(divides("999999999999999999", "999999999999999999000"));
  EXPECT_FALSE(divides("7", "1e999999999999999999999"));
  EXPECT_FALSE(divides("0.1", "0.35"));
  EXPECT_FALSE(divides("1e400", "1"));
  EXPECT_FALSE(divides("3", "10000000000000000000000000000000000000000000"));
}

RC_GTEST_PROP(JsonDivisor, AgreesWithIntegerArithmetic, (std::int32_t number)) {
  const std::int64_t divisor = *rc::gen::inRange<std::int64_t>(1, 1'000);
  RC_ASSERT(JsonDivisor::read(std::to_string(divisor))->divides(std::to_string(number)) ==
            (number % divisor == 0));
}

RC_GTEST_PROP(JsonNumbers, CompareByTheirKeysAsWithout, ()) {
  const auto number = [] {
    const std::string common = *rc::gen::element<std::string>("", "1", "12345678901234567");
    const auto rest = *rc::gen::container<std::string>(rc::gen::elementOf(std::string{"0019"}));
    const std::string sign = *rc::gen::element<std::string>("", "-");
    const std::string end = *rc::gen::element<std::string>("", "0", ".0", ".5", "e1", "e-20");
    const std::string digits = common + rest;
    const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
    return sign + (first == digits.size() ? "0" : digits.substr(first)) + end;
  };
  const std::string a = number();
  const std::string b = number();
  RC_ASSERT(compare_json_numbers({a, key_of_json_number(a)}, {b, key_of_json_number(b)}) ==
            compare_json_numbers(a, b));
}

}  // namespace
}  // namespace postrider
