#include "adapters/json_schema/re2_syntax.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace postrider::json_schema {
namespace {

std::string translated(std::string_view pattern) {
  const Result<std::string> result = to_re2_syntax(pattern);
  return result ? *result : "refused: " + result.error().message;
}

TEST(Re2Syntax, TranslatesWhatIsSpeltDifferently) {
  EXPECT_EQ(translated(R"(^[A-Z]{2}-[0-9]+$)"), R"(^[A-Z]{2}-[0-9]+$)");
  EXPECT_EQ(translated(R"(\u00e9)"), R"(\x{E9})");
  EXPECT_EQ(translated(R"([\u0000-\uffff])"), R"([\x{0}-\x{FFFF}])");
  EXPECT_EQ(translated(R"(\ud83d\ude00)"), R"(\x{1F600})");
  EXPECT_EQ(translated(R"(\cA\cz)"), R"(\x01\x1A)");
  EXPECT_EQ(translated(R"((?<year>\d{4})(?:a|b))"), R"((?P<year>\d{4})(?:a|b))");
  EXPECT_EQ(translated(R"([^])"), "(?s:.)");
  EXPECT_EQ(translated(R"(a[]b)"), R"(a[^\x00-\x{10FFFF}]b)");
  EXPECT_EQ(translated(R"([\b]\b)"), R"([\x08]\b)");
  EXPECT_EQ(translated(R"(\s[\s_]\S)"), R"([\t-\r ][\t-\r _][\x00-\x08\x0e-\x1f!-\x{10FFFF}])");
  EXPECT_EQ(translated(R"(\/\-\.\]\0)"), R"(\/\-\.\]\x00)");
  EXPECT_EQ(translated("\\ä"), "ä");
  EXPECT_EQ(translated(R"([(?=])"), R"([(?=])") << "not a group in a class";
  EXPECT_EQ(translated(R"(\(?=)"), R"(\(?=)");
}

TEST(Re2Syntax, RefusesWhatRe2CannotExpress) {
  const auto refusal = [](std::string_view what) {
    return "refused: uses " + std::string{what} +
           ", which RE2 cannot express. Patterns are matched by RE2, in time proportional to the "
           "text.";
  };
  EXPECT_EQ(translated("a(?=b)"), refusal("look-ahead ((?=)"));
  EXPECT_EQ(translated("a(?!b)"), refusal("look-ahead ((?!)"));
  EXPECT_EQ(translated("(?<=a)b"), refusal("look-behind ((?<=)"));
  EXPECT_EQ(translated("(?<!a)b"), refusal("look-behind ((?<!)"));
  EXPECT_EQ(translated(R"((a)\1)"), refusal(R"(the back-reference \1)"));
  EXPECT_EQ(translated(R"((?<n>a)\k<n>)"), refusal(R"(the back-reference \k)"));
}

TEST(Re2Syntax, RefusesInvalidEscapes) {
  for (const std::string_view pattern :
       {R"(\u12)", R"(\u123g)", R"(\ud800)", R"(\ud800\u0041)", R"(\udc00)", R"(\c1)", R"(\c)",
        R"(\Qa\E)", R"(\A)", R"(\z)", R"(\C)", R"(\8)"}) {
    EXPECT_TRUE(translated(pattern).starts_with("refused: ")) << pattern;
  }
}

}  // namespace
}  // namespace postrider::json_schema
