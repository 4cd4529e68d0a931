#include "core/json/json_cursor.h"

#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

TEST(JsonCursorWalk, VisitsMembersAndElementsInOrder) {
  JsonCursor cursor{R"( { "a" : [ 1 , "x\"]" , {"n":{}} , [] ] ,"b":true,"\u0063" : -1.5e3 } )"};
  EXPECT_EQ(cursor.peek(), '{');
  cursor.enter();
  EXPECT_EQ(cursor.next_key(), "a");
  cursor.enter();
  EXPECT_TRUE(cursor.next_element());
  EXPECT_EQ(cursor.take_scalar(), "1");
  EXPECT_TRUE(cursor.next_element());
  EXPECT_EQ(cursor.take_scalar(), R"("x\"]")");
  EXPECT_TRUE(cursor.next_element());
  cursor.skip_value();
  EXPECT_TRUE(cursor.next_element());
  EXPECT_EQ(cursor.peek(), '[');
  cursor.skip_value();
  EXPECT_FALSE(cursor.next_element());
  EXPECT_EQ(cursor.next_key(), "b");
  EXPECT_EQ(cursor.take_scalar(), "true");
  EXPECT_EQ(cursor.next_key(), R"(\u0063)");
  EXPECT_EQ(cursor.take_scalar(), "-1.5e3");
  EXPECT_EQ(cursor.next_key(), std::nullopt);
  EXPECT_EQ(cursor.peek(), '\0');
}

TEST(JsonCursorWalk, TakesScalarsUpToTheirEnd) {
  const struct {
    std::string_view text;
    std::string_view scalar;
    char next;
  } cases[] = {
      {"1", "1", '\0'},
      {" 1 ", "1", '\0'},
      {"1,2", "1", ','},
      {"null]", "null", ']'},
      {"true}", "true", '}'},
      {"-0.5e+7\t,", "-0.5e+7", ','},
      {R"("")", R"("")", 0},
      {R"("a b",1)", R"("a b")", ','},
      {R"("\\",1)", R"("\\")", ','},
      {R"("\"",1)", R"("\"")", ','},
      {R"("]},{" })", R"("]},{")", '}'},
  };
  for (const auto& c : cases) {
    JsonCursor cursor{c.text};
    EXPECT_EQ(cursor.take_scalar(), c.scalar) << c.text;
    EXPECT_EQ(cursor.peek(), c.next) << c.text;
  }
}

TEST(JsonCursorWalk, SkipsAValueWithItsContents) {
  for (const std::string_view value :
       {R"(7)", R"("}")", R"({})", R"([])", R"({"a":[1,{"b":"]}\""}],"c":{}})", R"([[[]],"[",{}])",
        "{ \"a\" : [ 1 , 2 ] }"}) {
    const std::string text = std::string{value} + ",true";
    JsonCursor cursor{text};
    cursor.skip_value();
    EXPECT_EQ(cursor.peek(), ',') << value;
    cursor.enter();
    EXPECT_EQ(cursor.take_scalar(), "true") << value;
  }
}

TEST(JsonCursorWalk, HandlesEmptyObjectsAndArrays) {
  JsonCursor cursor{R"([ { } , [ ] ])"};
  cursor.enter();
  ASSERT_TRUE(cursor.next_element());
  cursor.enter();
  EXPECT_EQ(cursor.next_key(), std::nullopt);
  ASSERT_TRUE(cursor.next_element());
  cursor.enter();
  EXPECT_FALSE(cursor.next_element());
  EXPECT_FALSE(cursor.next_element());
  EXPECT_EQ(cursor.peek(), '\0');
}

TEST(JsonCursorWalk, ReadsTruncatedTextSafely) {
  for (const std::string_view text : {"", " ", "\"", "\"\\", "{", "{\"", "{\"a", "{\"a\"",
                                      "{\"a\":", "[", "[1", "[1,", "[[", "\"\\\""}) {
    JsonCursor skipping{text};
    skipping.skip_value();
    EXPECT_EQ(skipping.peek(), '\0') << text;

    JsonCursor walking{text};
    walking.enter();
    (void)walking.next_key();
    (void)walking.next_element();
    (void)walking.take_scalar();
    EXPECT_EQ(walking.peek(), '\0') << text;
  }
}

RC_GTEST_PROP(JsonCursorWalk, TerminatesForAnyText, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string{"{}[]\",:\\a1 "}));
  JsonCursor cursor{text};
  for (std::size_t steps = 0; cursor.peek() != '\0'; ++steps) {
    RC_ASSERT(steps <= text.size());
    cursor.skip_value();
  }
}

}  // namespace
}  // namespace postrider
