#include "core/base/parse_number.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(ParseNumber, ReadsAWholeNumber) {
  EXPECT_EQ(parse_number<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(parse_number<std::int64_t>("-9"), -9);
  EXPECT_EQ(parse_number<std::uint64_t>("fF", 16), 255U);
  EXPECT_EQ(parse_number<int>("007"), 7);
}

TEST(ParseNumber, RejectsAnythingBesideTheNumber) {
  for (const std::string_view text : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x1", "x", "-"}) {
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  }
}

TEST(ParseNumber, RejectsANumberThatDoesNotFit) {
  EXPECT_EQ(parse_number<std::uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint32_t>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551616"), std::nullopt);
}

TEST(ParseNumber, ReadsFractions) {
  EXPECT_EQ(parse_number<double>("-2.5e1"), -25.0);
  EXPECT_EQ(parse_number<double>("2.5x"), std::nullopt);
  EXPECT_EQ(parse_number<double>("1e999"), std::nullopt);
}

}  // namespace
}  // namespace postrider
