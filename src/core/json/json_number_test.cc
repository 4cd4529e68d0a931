#include "core/json/json_number.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

struct Case {
  std::string_view number;
  std::string_view javascript;
  std::string_view python;
};

// As Node.js 20 and Python 3.11 write them, except infinite numbers in Python.
constexpr Case cases[] = {
    {"0", "0", "0"},
    {"-0", "0", "0"},
    {"0.0", "0", "0.0"},
    {"-0.0", "0", "-0.0"},
    {"0e99999999999999999999", "0", "0.0"},
    {"1", "1", "1"},
    {"-1", "-1", "-1"},
    {"1.0", "1", "1.0"},
    {"1.50", "1.5", "1.5"},
    {"1e2", "100", "100.0"},
    {"1E+2", "100", "100.0"},
    {"100000000000000000000", "100000000000000000000", "100000000000000000000"},
    {"999999999999999999999", "1e+21", "999999999999999999999"},
    {"1e21", "1e+21", "1e+21"},
    {"123456789012345678901234567890", "1.2345678901234568e+29", "123456789012345678901234567890"},
    {"12345678901234567890", "12345678901234567000", "12345678901234567890"},
    {"9007199254740993", "9007199254740992", "9007199254740993"},
    {"9007199254740992.5", "9007199254740992", "9007199254740992.0"},
    {"0.1", "0.1", "0.1"},
    {"0.30000000000000004", "0.30000000000000004", "0.30000000000000004"},
    {"0.000001", "0.000001", "1e-06"},
    {"0.0000001", "1e-7", "1e-07"},
    {"1e-7", "1e-7", "1e-07"},
    {"1.5e-7", "1.5e-7", "1.5e-07"},
    {"0.0001", "0.0001", "0.0001"},
    {"0.00001", "0.00001", "1e-05"},
    {"123456.789e3", "123456789", "123456789.0"},
    {"1e15", "1000000000000000", "1000000000000000.0"},
    {"1e16", "10000000000000000", "1e+16"},
    {"123456789012345680", "123456789012345680", "123456789012345680"},
    {"12345678901234567.0", "12345678901234568", "1.2345678901234568e+16"},
    {"1.7976931348623157e308", "1.7976931348623157e+308", "1.7976931348623157e+308"},
    {"1e308", "1e+308", "1e+308"},
    {"1e309", "null", "1e309"},
    {"-1e400", "null", "-1e400"},
    {"1e99999999999999999999", "null", "1e99999999999999999999"},
    {"2e-324", "0", "0.0"},
    {"5e-324", "5e-324", "5e-324"},
    {"-1e-400", "0", "-0.0"},
    {"1e-99999999999999999999", "0", "0.0"},
    {"2.2250738585072014e-308", "2.2250738585072014e-308", "2.2250738585072014e-308"},
    {"3.141592653589793238462643383279", "3.141592653589793", "3.141592653589793"},
    {"1e23", "1e+23", "1e+23"},
    {"5e20", "500000000000000000000", "5e+20"},
    {"0.1e1", "1", "1.0"},
};

std::string javascript(std::string_view number) {
  std::string out;
  append_javascript_number(out, number);
  return out;
}

std::string python(std::string_view number) {
  std::string out;
  append_python_number(out, number);
  return out;
}

TEST(JsonNumber, IsWrittenAsJavaScriptAndPythonWriteIt) {
  for (const Case& each : cases) {
    EXPECT_EQ(javascript(each.number), each.javascript) << each.number;
    EXPECT_EQ(python(each.number), each.python) << each.number;
  }
}

TEST(JsonNumber, MayHaveManyDigits) {
  const std::string large = "1" + std::string(400, '0');
  EXPECT_EQ(javascript(large), "null");
  EXPECT_EQ(javascript("-" + large), "null");
  EXPECT_EQ(javascript(large + "e-400"), "1");
  EXPECT_EQ(python(large), large);
  EXPECT_EQ(python(large + ".0"), large + ".0");
  const std::string small = "0." + std::string(400, '0') + "1";
  EXPECT_EQ(javascript(small), "0");
  EXPECT_EQ(javascript(small + "e401"), "1");
  EXPECT_EQ(javascript(small + "e901"), "null");
  EXPECT_EQ(python("-" + small), "-0.0");
}

double value_of(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

RC_GTEST_PROP(JsonNumber, EveryDoubleKeepsItsValue, (std::uint64_t bits)) {
  const auto value = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(value) && value != 0);
  char buffer[400];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, 30);
  const std::string number{buffer, end.ptr};
  for (const std::string& written : {javascript(number), python(number)}) {
    RC_ASSERT(value_of(written) == value);
    RC_ASSERT(written.size() <= 25u);
  }
  RC_ASSERT(javascript(javascript(number)) == javascript(number));
  RC_ASSERT(python(python(number)) == python(number));
}

}  // namespace
}  // namespace postrider
