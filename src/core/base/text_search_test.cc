#include "core/base/text_search.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

TEST(TextSearch, FindsTheFirstPlace) {
  const std::string needle = "aaaaaaaaaaaaaaaaaaaab";
  EXPECT_EQ(find_text("xx" + needle + needle, needle), 2U);
  EXPECT_EQ(find_text("aaaa" + needle, needle), 4U);
  EXPECT_EQ(find_text(needle, needle), 0U);
  EXPECT_EQ(find_text(std::string(100, 'a'), needle), std::string_view::npos);
  EXPECT_EQ(find_text("short", needle), std::string_view::npos);
  EXPECT_EQ(find_text("short", ""), 0U);
  EXPECT_EQ(find_text("short", "or"), 2U);
}

RC_GTEST_PROP(TextSearch, AgreesWithTheStandardLibrary, ()) {
  const auto letters = [](std::size_t count) {
    return *rc::gen::container<std::string>(count, rc::gen::elementOf(std::string{"aab"}));
  };
  const std::string unit = letters(*rc::gen::inRange<std::size_t>(1, 4));
  std::string needle;
  while (needle.size() < 20) {
    needle += unit;
  }
  needle += letters(*rc::gen::inRange<std::size_t>(0, 3));
  std::string text = letters(*rc::gen::inRange<std::size_t>(0, 50));
  while (text.size() < 120) {
    text += unit;
  }
  text += letters(3) + (*rc::gen::arbitrary<bool>() ? needle : "") + letters(3);
  RC_ASSERT(find_text(text, needle) == text.find(needle));
}

}  // namespace
}  // namespace postrider
