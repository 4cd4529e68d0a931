#include "core/base/trim.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(Trim, RemovesSpacesAndTabsAtBothEnds) {
  EXPECT_EQ(trim(" \t a b\t "), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(trim("\r\na\n"), "\r\na\n");
}

TEST(Trim, RemovesTheGivenCharacters) {
  EXPECT_EQ(trim(" \r\n\ta\nb\n", white_space), "a\nb");
  EXPECT_EQ(trim("\v a", white_space), "\v a");
}

TEST(Trim, ReturnsAPartOfTheText) {
  constexpr std::string_view text = "  a ";
  EXPECT_EQ(trim(text).data(), text.data() + 2);
}

}  // namespace
}  // namespace postrider
