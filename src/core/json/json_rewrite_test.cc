#include "core/json/json_rewrite.h"

#include <gtest/gtest.h>

#include "core/json/json_text.h"

namespace postrider {
namespace {

std::string javascript(std::string_view text) {
  EXPECT_TRUE(check_json(text)) << text;
  return rewrite_json(text, JsonWriterStyle::javascript);
}

std::string python(std::string_view text) {
  EXPECT_TRUE(check_json(text)) << text;
  return rewrite_json(text, JsonWriterStyle::python);
}

// The expected texts of this file are from Node.js 20 and Python 3.11.

TEST(RewriteJson, WritesScalars) {
  for (const std::string_view text : {"null", "true", "false", "1", "\"a\""}) {
    EXPECT_EQ(javascript(text), text);
    EXPECT_EQ(python(text), text);
  }
  EXPECT_EQ(javascript(" \n1.0\t"), "1");
  EXPECT_EQ(python(" \n1.0\t"), "1.0");
}

TEST(RewriteJson, ReplacesWhiteSpace) {
  constexpr std::string_view text = "\t{ \"a\" :\n[ 1 ,\r 2,[ ] , { } ] , \"b\" : \" c , d \" } ";
  EXPECT_EQ(javascript(text), R"({"a":[1,2,[],{}],"b":" c , d "})");
  EXPECT_EQ(python(text), R"({"a": [1, 2, [], {}], "b": " c , d "})");
}

TEST(RewriteJson, WritesStrings) {
  constexpr std::string_view text =
      "\"\\u0000\\u001f\\b\\f\\n\\r\\t\\/\\\"\\\\\\u007f\\u00E9\\u2028\\ud83d\\ude00 "
      "\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbf\"";
  EXPECT_EQ(javascript(text),
            "\"\\u0000\\u001f\\b\\f\\n\\r\\t/\\\"\\\\\x7f\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80 "
            "\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbf\"");
  EXPECT_EQ(python(text),
            "\"\\u0000\\u001f\\b\\f\\n\\r\\t/\\\"\\\\\\u007f\\u00e9\\u2028\\ud83d\\ude00 "
            "\\u00e9\\ud83d\\ude00\\uffff\"");
}

TEST(RewriteJson, JavaScriptPutsArrayIndexesFirst) {
  EXPECT_EQ(javascript(R"({"b":1,"10":1,"9":2,"a":3,"01":4,"-1":5,"4294967294":6,)"
                       R"("4294967295":7,"0":8,"1e3":9,"":10,"\u0031":11,"__proto__":{"z":1}})"),
            R"({"0":8,"1":11,"9":2,"10":1,"4294967294":6,"b":1,"a":3,"01":4,"-1":5,)"
            R"("4294967295":7,"1e3":9,"":10,"__proto__":{"z":1}})");
}

TEST(RewriteJson, PythonSortsKeysByCodePoint) {
  EXPECT_EQ(python("{\"b\":1,\"10\":1,\"9\":2,\"a\":3,\"01\":4,\"-1\":5,\"B\":6,\"\xc3\xa9\":7,"
                   "\"\\ud83d\\ude00\":8,\"\xef\xbf\xbf\":9,\"\":10,\"aa\":[1,{\"y\":{},"
                   "\"x\":[]}]}"),
            R"({"": 10, "-1": 5, "01": 4, "10": 1, "9": 2, "B": 6, "a": 3, )"
            R"("aa": [1, {"x": [], "y": {}}], "b": 1, "\u00e9": 7, "\uffff": 9, )"
            R"("\ud83d\ude00": 8})");
}

TEST(RewriteJson, KeepsTheDeepestAllowedNesting) {
  const std::string deep = std::string(32, '[') + std::string(32, ']');
  EXPECT_EQ(javascript(deep), deep);
  EXPECT_EQ(python(deep), deep);
}

}  // namespace
}  // namespace postrider
