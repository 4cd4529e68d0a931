#include "core/json/json_text.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string message_of(std::string_view text) {
  const Result<void> checked = check_json(text);
  EXPECT_FALSE(checked) << text;
  return checked ? "" : checked.error().message;
}

TEST(CheckJson, AcceptsEveryKindOfValue) {
  for (const std::string_view text :
       {"null", "true", "false", "0", "-0", "\"\"", "{}", "[]", " \t\r\n1 \t\r\n", "[ ]", "{ }",
        "[1,2]", "{\"a\":1,\"b\":[{\"c\":null}]}", "\"\xc3\xa4\"", "{\"\":0}", "[[],{},[[]]]",
        "{\"__proto__\":1,\"constructor\":2}"}) {
    EXPECT_TRUE(check_json(text)) << text;
  }
}

TEST(CheckJson, ChecksOnlyTheSyntaxOfNumbers) {
  for (const std::string_view text : {"0", "-0", "10", "-1.5", "1e400", "1E+400", "1e-400", "0.000",
                                      "9007199254740993", "9223372036854775808", "0e0", "1.0E5"}) {
    EXPECT_TRUE(check_json(text)) << text;
  }
  EXPECT_TRUE(check_json(std::string(10'000, '7')));
  for (const std::string_view text :
       {"01", "-01", "00", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "0x10", "1_000", "--1",
        "NaN", "Infinity", "-Infinity", "nan", "1 2", "1a"}) {
    EXPECT_FALSE(check_json(text)) << text;
  }
}

TEST(CheckJson, RejectsInvalidJson) {
  for (const std::string_view text :
       {"",           " ",         "{",     "}",       "[",           "]",         "[1",
        "[1,",        "[1,]",      "[,1]",  "{\"a\"",  "{\"a\":",     "{\"a\":1",  "{\"a\":1,",
        "{\"a\":1,}", "{,}",       "{a:1}", "{'a':1}", "{1:1}",       "{\"a\" 1}", "{\"a\",1}",
        "[1}",        "{\"a\":1]", "[1 2]", "tru",     "True",        "nul",       "nullx",
        "truefalse",  "{}{}",      "1,",    "// c\n1", "/**/1",       "[1]//",     "\"a",
        "\"",         "\"\\",      "\"\\u", "\"\\u12", "{\"a\":\"b}", "[\"a]"}) {
    EXPECT_FALSE(check_json(text)) << text;
  }
  EXPECT_FALSE(check_json(std::string_view{"\0", 1}));
  EXPECT_FALSE(check_json(std::string_view{"1\0", 2}));
  EXPECT_FALSE(check_json("\xef\xbb\xbf{}")) << "a byte order mark";
  EXPECT_FALSE(
      check_json("\xc2\xa0"
                 "1"))
      << "white space that JSON does not allow";
  EXPECT_FALSE(check_json("\f1"));
}

TEST(CheckJson, RejectsUnescapedControlCharacters) {
  for (int byte = 0; byte < 0x20; ++byte) {
    // At several distances from the end, to cover both the word loop and the byte loop.
    for (const std::size_t after : {std::size_t{0}, std::size_t{3}, std::size_t{20}}) {
      const std::string text =
          "\"ab" + std::string(1, static_cast<char>(byte)) + std::string(after, 'x') + "\"";
      EXPECT_FALSE(check_json(text)) << byte;
    }
  }
  EXPECT_TRUE(check_json("\"\x7f\""));
  EXPECT_TRUE(check_json(R"("\u0000\u001f")"));
}

TEST(CheckJson, AcceptsOnlyTheEscapesOfTheRfc) {
  EXPECT_TRUE(check_json(R"("\"\\\/\b\f\n\r\t\u00e4\u00E4")"));
  for (const std::string_view text : {R"("\a")", R"("\x41")", R"("\'")", R"("\0")", R"("\U0041")",
                                      R"("\u004")", R"("\u00g1")", R"("\u 041")", R"("\u+041")"}) {
    EXPECT_FALSE(check_json(text)) << text;
  }
}

TEST(CheckJson, RequiresSurrogatePairs) {
  EXPECT_TRUE(check_json(R"("\ud83d\ude00")"));
  EXPECT_TRUE(check_json(R"("\uD800\uDC00\uDBFF\uDFFF")"));
  for (const std::string_view text :
       {R"("\ud83d")", R"("\ude00")", R"("\ude00\ud83d")", R"("\ud83dx\ude00")", R"("\ud83d\n")",
        R"("\ud83dude00")", R"("\ud83d\ud83d")", R"("\ud83d\u0041")", R"("\ud83d\)", R"("\ud83d\u)",
        R"("\ud83d\ude0)"}) {
    EXPECT_FALSE(check_json(text)) << text;
  }
}

TEST(CheckJson, RequiresWellFormedUtf8) {
  for (const std::string_view content :
       {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\xe2\x82\xac\xe2\x82\xac z"}) {
    EXPECT_TRUE(check_json('"' + std::string{content} + '"')) << content;
  }
  for (const std::string_view content : {"\x80",
                                         "\xbf",
                                         "\xc0\x80",
                                         "\xc1\xbf",
                                         "\xc2",
                                         "\xc2\x41",
                                         "\xe0\x80\x80",
                                         "\xe0\x9f\xbf",
                                         "\xe2\x82",
                                         "\xe2\x41\x82",
                                         "\xe2\x82\x41",
                                         "\xed\xa0\x80",
                                         "\xed\xbf\xbf",
                                         "\xf0\x80\x80\x80",
                                         "\xf0\x8f\xbf\xbf",
                                         "\xf0\x90\x80",
                                         "\xf4\x90\x80\x80",
                                         "\xf5\x80\x80\x80",
                                         "\xfe",
                                         "\xff",
                                         "\xc3\xa4\xc3"}) {
    EXPECT_FALSE(check_json('"' + std::string{content} + '"')) << content;
    EXPECT_FALSE(check_json('"' + std::string{content})) << content;
    EXPECT_FALSE(check_json("{\"" + std::string{content} + "\":1}")) << content;
  }
}

TEST(CheckJson, LimitsTheDepth) {
  EXPECT_TRUE(check_json(nested(json_depth_max)));
  for (const std::size_t depth : {json_depth_max + 1, std::size_t{1'000}, std::size_t{1'000'000}}) {
    EXPECT_FALSE(check_json(nested(depth))) << depth;
    EXPECT_FALSE(check_json(std::string(depth, '['))) << depth;
  }
  std::string objects;
  for (std::size_t i = 0; i < json_depth_max; ++i) {
    objects += "{\"a\":";
  }
  EXPECT_TRUE(check_json(objects + "1" + std::string(json_depth_max, '}')));
  EXPECT_FALSE(check_json("[" + objects + "1" + std::string(json_depth_max, '}') + "]"));
  EXPECT_EQ(message_of(nested(33)),
            "Invalid JSON at byte 32: more than 32 levels of arrays and objects.");
}

TEST(CheckJson, RejectsDuplicateKeys) {
  for (const std::string_view text :
       {R"({"a":1,"a":1})", R"({"a":1,"b":2,"a":3})", R"({"":1,"":2})", R"([{"x":{"a":1,"a":2}}])",
        R"({"a":1,"\u0061":2})", R"({"\u0061":1,"\u0061":2})", R"({"a/b":1,"a\/b":2})",
        R"({"o":{"a":1},"o":{}})", "{\"\xc3\xa4\":1,\"\\u00E4\":2}",
        "{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}"}) {
    EXPECT_FALSE(check_json(text)) << text;
  }
  for (const std::string_view text :
       {R"({"a":{"a":{"a":1}}})", R"([{"a":1},{"a":1}])", R"({"a":1,"A":2})",
        R"({"o":{"a":1},"a":1})", R"({"a":1,"a\u0000":2})", R"({"a":"a","b":"a"})"}) {
    EXPECT_TRUE(check_json(text)) << text;
  }
}

// Sizes around the one at which the search for duplicates switches to sorting.
TEST(CheckJson, FindsADuplicateAtAnyPosition) {
  for (const std::size_t count : {2u, 15u, 16u, 17u, 18u, 40u}) {
    for (std::size_t twin = 0; twin + 1 < count; ++twin) {
      std::string distinct = "{";
      for (std::size_t i = 0; i + 1 < count; ++i) {
        distinct += "\"key" + std::to_string(i) + "\":{\"key0\":0},";
      }
      const std::string duplicate = distinct + "\"key" + std::to_string(twin) + "\":1}";
      EXPECT_FALSE(check_json(duplicate)) << count << ' ' << twin;
      EXPECT_EQ(message_of(duplicate), "Invalid JSON at byte " + std::to_string(distinct.size()) +
                                           ": the object already has the key \"key" +
                                           std::to_string(twin) + "\".");
      EXPECT_TRUE(check_json(distinct + "\"other\":1}"));
    }
  }
}

TEST(CheckJson, FindsADuplicateAmongAMillionKeys) {
  std::string text = "{";
  for (int i = 0; i < 1'000'000; ++i) {
    text += "\"key" + std::to_string(i) + "\":0,";
  }
  EXPECT_EQ(message_of(text + "\"key500000\":0}"),
            "Invalid JSON at byte " + std::to_string(text.size()) +
                ": the object already has the key \"key500000\".");
}

TEST(CheckJson, ReportsTheErrorAndItsByteOffset) {
  EXPECT_EQ(message_of(""), "Invalid JSON at byte 0: the text ends too early.");
  EXPECT_EQ(message_of("[1,]"), "Invalid JSON at byte 3: expected a value.");
  EXPECT_EQ(message_of("{\"a\" 1}"), "Invalid JSON at byte 5: expected a colon after the key.");
  EXPECT_EQ(message_of("{\"a\":1,}"), "Invalid JSON at byte 7: expected a key in quotes.");
  EXPECT_EQ(message_of("[1 2]"), "Invalid JSON at byte 3: expected a comma or ].");
  EXPECT_EQ(message_of("{} x"), "Invalid JSON at byte 3: unexpected text after the value.");
  EXPECT_EQ(message_of("012"), "Invalid JSON at byte 1: a number must not have leading zeros.");
  EXPECT_EQ(message_of("\"abc\n\""),
            "Invalid JSON at byte 4: a control character in a string must be escaped.");
  EXPECT_EQ(message_of("\"ab\\u12\""),
            "Invalid JSON at byte 3: \\u needs four hexadecimal digits.");
  EXPECT_EQ(message_of("[\"abc"), "Invalid JSON at byte 5: the string has no closing quote.");
  EXPECT_EQ(message_of("\"a\xff\""), "Invalid JSON at byte 2: invalid UTF-8.");
  EXPECT_EQ(message_of(R"({"b":1,"b":2})"),
            "Invalid JSON at byte 7: the object already has the key \"b\".");
  const std::string key(65, 'k');
  EXPECT_EQ(message_of("{\"" + key + "\":1,\"" + key + "\":2}"),
            "Invalid JSON at byte 71: the object already has this key.");
}

TEST(ReadJsonObject, SlicesMembersVerbatimAndInOrder) {
  const std::string_view text =
      " { \"b\" : { \"x\" : [ 1 , 2 ] } ,\n\"\\u0061\":1.0e+2,\"c\":\" s \",\"\":[] } ";
  const auto members = read_json_object(text);
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 4u);
  EXPECT_EQ((*members)[0].key, "b");
  EXPECT_EQ((*members)[0].value, "{ \"x\" : [ 1 , 2 ] }");
  EXPECT_EQ((*members)[1].key, "a");
  EXPECT_EQ((*members)[1].value, "1.0e+2");
  EXPECT_EQ((*members)[2].key, "c");
  EXPECT_EQ((*members)[2].value, "\" s \"");
  EXPECT_EQ((*members)[3].key, "");
  EXPECT_EQ((*members)[3].value, "[]");
  for (const JsonMember& member : *members) {
    EXPECT_GE(member.value.data(), text.data());
    EXPECT_LE(member.value.data() + member.value.size(), text.data() + text.size());
  }
}

TEST(ReadJsonObject, KeepsTheOrderOfLargeObjects) {
  std::string text = "{";
  for (int i = 99; i >= 0; --i) {
    text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + (i > 0 ? "," : "}");
  }
  const auto members = read_json_object(text);
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ((*members)[i].key, "k" + std::to_string(99 - i));
    EXPECT_EQ((*members)[i].value, std::to_string(99 - i));
  }
}

TEST(ReadJsonEnvelope, DoesNotCountItsOwnLevel) {
  const auto envelope = [](std::size_t depth) { return "{\"data\":" + nested(depth) + "}"; };
  EXPECT_TRUE(read_json_envelope(envelope(json_depth_max)));
  EXPECT_FALSE(read_json_envelope(envelope(json_depth_max + 1)));
  EXPECT_FALSE(read_json_object(envelope(json_depth_max)));
  EXPECT_TRUE(read_json_object(envelope(json_depth_max - 1)));
  EXPECT_FALSE(read_json_envelope("[]"));
}

TEST(ReadJsonObject, RejectsOtherValues) {
  EXPECT_TRUE(read_json_object("{}")->empty());
  for (const std::string_view text :
       {"[]", "[{\"a\":1}]", "1", "\"{}\"", "null", "", "{", "{\"a\":1,\"a\":2}"}) {
    EXPECT_FALSE(read_json_object(text)) << text;
  }
  EXPECT_EQ(read_json_object("[]").error().message, "The JSON must be an object.");
}

TEST(ReadJsonArray, SlicesElementsVerbatimAndInOrder) {
  const auto elements = read_json_array(" [ 1 , {\"a\" : [2]} ,[3,4],\"]\" ] ");
  ASSERT_TRUE(elements);
  EXPECT_EQ(*elements, (std::vector<std::string_view>{"1", "{\"a\" : [2]}", "[3,4]", "\"]\""}));
}

TEST(ReadJsonArray, RejectsOtherValues) {
  EXPECT_TRUE(read_json_array("[]")->empty());
  EXPECT_TRUE(read_json_array(" [ ] ")->empty());
  for (const std::string_view text : {"{}", "{\"a\":[1]}", "1", "\"[]\"", "", "[", "[1"}) {
    EXPECT_FALSE(read_json_array(text)) << text;
  }
  EXPECT_EQ(read_json_array("{\"a\":[1]}").error().message, "The JSON must be an array.");
}

TEST(DecodeJsonString, DecodesEveryEscape) {
  EXPECT_EQ(decode_json_string(R"("")"), "");
  EXPECT_EQ(decode_json_string(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(decode_json_string(R"("\u0041\u007f\u0080\u07ff\u0800\uffff")"),
            "A\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
  EXPECT_EQ(decode_json_string(R"("x\ud800\udc00y\uDBFF\uDFFF")"),
            "x\xf0\x90\x80\x80y\xf4\x8f\xbf\xbf");
  EXPECT_EQ(decode_json_string(R"("a\u0000b")"), (std::string{"a\0b", 3}));
}

TEST(DecodeJsonString, RejectsEverythingElse) {
  for (const std::string_view raw : {"", "\"", "a", "\"a", "a\"", "\"a\"b\"", "\"a\" ", " \"a\"",
                                     "1", "\"a\"\"", "\"\\\"", "\"\xff\"", "\"\\ud800\""}) {
    EXPECT_FALSE(decode_json_string(raw)) << raw;
  }
}

}  // namespace
}  // namespace postrider
