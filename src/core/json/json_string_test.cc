#include "core/json/json_string.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/json/json_text.h"

namespace postrider {
namespace {

// The largest number of plain characters before a special one: covers all offsets in a word.
constexpr std::size_t offset_max = 17;

TEST(JsonStringScan, EndsAtTheClosingQuoteAtAnyOffset) {
  for (std::size_t offset = 0; offset <= offset_max; ++offset) {
    const std::string plain(offset, 'x');
    for (const std::string_view after : {"", "\"", "\\", "\x01", "\xff", "\", 12345678"}) {
      const JsonStringScan scan = scan_json_string(plain + "\"" + std::string{after});
      EXPECT_EQ(scan.length, offset);
      EXPECT_FALSE(scan.has_escape);
      EXPECT_EQ(scan.error, "");
    }
  }
}

TEST(JsonStringScan, ReportsTheErrorAndItsOffset) {
  struct Case {
    std::string_view text;
    std::string_view error;
  };
  using namespace std::string_view_literals;
  const Case cases[] = {
      {"", "the string has no closing quote"},
      {"\n\"", "a control character in a string must be escaped"},
      {"\0\""sv, "a control character in a string must be escaped"},
      {"\x1f\"", "a control character in a string must be escaped"},
      {"\\", "unknown escape in a string"},
      {"\\x\"", "unknown escape in a string"},
      {"\\U0041\"", "unknown escape in a string"},
      {"\\u004\"", "\\u needs four hexadecimal digits"},
      {"\\u", "\\u needs four hexadecimal digits"},
      {"\\u00g0\"", "\\u needs four hexadecimal digits"},
      {"\\u00`0\"", "\\u needs four hexadecimal digits"},
      {"\\udc00\"", "a low surrogate without a high one before it"},
      {"\\udfff\\ud800\"", "a low surrogate without a high one before it"},
      {"\\ud800\"", "a high surrogate without a low one after it"},
      {"\\ud800\\n\"", "a high surrogate without a low one after it"},
      {"\\udbff\\ud800\"", "a high surrogate without a low one after it"},
      {"\\ud800\\u0041\"", "a high surrogate without a low one after it"},
      {"\\ud800\\udc0\"", "a high surrogate without a low one after it"},
      {"\x80\"", "invalid UTF-8"},
      {"\xbf\"", "invalid UTF-8"},
      {"\xc0\x80\"", "invalid UTF-8"},      // Overlong, two bytes.
      {"\xc1\xbf\"", "invalid UTF-8"},      //
      {"\xe0\x9f\xbf\"", "invalid UTF-8"},  // Overlong, three bytes.
      {"\xed\xa0\x80\"", "invalid UTF-8"},  // A surrogate.
      {"\xf0\x8f\xbf\xbf\"", "invalid UTF-8"},
      {"\xf4\x90\x80\x80\"", "invalid UTF-8"},  // Above U+10FFFF.
      {"\xf5\x80\x80\x80\"", "invalid UTF-8"},
      {"\xff\"", "invalid UTF-8"},
      {"\xc3\"", "invalid UTF-8"},
      {"\xc3", "invalid UTF-8"},
      {"\xe2\x82\"", "invalid UTF-8"},
      {"\xf0\x9f\x98\"", "invalid UTF-8"},
      {"\xf0\x9f\x98\xc0\"", "invalid UTF-8"},
  };
  for (std::size_t offset = 0; offset <= offset_max; ++offset) {
    for (const Case& c : cases) {
      const JsonStringScan scan = scan_json_string(std::string(offset, 'x') + std::string{c.text});
      EXPECT_EQ(scan.error, c.error) << offset << " " << c.text;
      EXPECT_EQ(scan.length, offset) << offset << " " << c.text;
    }
  }
}

TEST(JsonStringScan, AcceptsTheFirstAndLastCodePointOfEachLength) {
  for (const std::string_view content : {" ",
                                         "\x7f",
                                         "\xc2\x80",
                                         "\xdf\xbf",
                                         "\xe0\xa0\x80",
                                         "\xed\x9f\xbf",
                                         "\xee\x80\x80",
                                         "\xef\xbf\xbf",
                                         "\xf0\x90\x80\x80",
                                         "\xf4\x8f\xbf\xbf",
                                         "\\u0000",
                                         "\\uFFFF",
                                         "\\ud7ff",
                                         "\\ue000",
                                         "\\uD800\\uDC00",
                                         "\\udbff\\udfff",
                                         "\\\"",
                                         "\\\\",
                                         "\\/",
                                         "\\b\\f\\n\\r\\t"}) {
    for (std::size_t offset = 0; offset <= offset_max; ++offset) {
      const JsonStringScan scan =
          scan_json_string(std::string(offset, 'x') + std::string{content} + "\"rest");
      EXPECT_EQ(scan.error, "") << content;
      EXPECT_EQ(scan.length, offset + content.size()) << content;
      EXPECT_EQ(scan.has_escape, content.starts_with('\\')) << content;
    }
  }
}

TEST(JsonContent, IsDecoded) {
  using namespace std::string_literals;
  EXPECT_EQ(decode_json_content(""), "");
  EXPECT_EQ(decode_json_content("plain \xc3\xa4"), "plain \xc3\xa4");
  EXPECT_EQ(decode_json_content(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(decode_json_content(R"(a\\u0041)"), R"(a\u0041)") << "an escaped backslash";
  EXPECT_EQ(decode_json_content(R"(\u0000x)"), "\0x"s);
  EXPECT_EQ(decode_json_content(R"(\u007F\u0080\u07fF\u0800\uFfFf)"),
            "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
  EXPECT_EQ(decode_json_content(R"(\uD800\uDC00-\udbff\udfff)"),
            "\xf0\x90\x80\x80-\xf4\x8f\xbf\xbf");
}

RC_GTEST_PROP(JsonContent, RoundTrips, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element(std::string{"a"}, std::string{"\""}, std::string{"\\"}, std::string{"\n"},
                       std::string{"\x01"}, std::string{"\xc3\xa4"},
                       std::string{"\xf0\x9f\x98\x80"}, std::string{"12345678"}));
  std::string text;
  for (const std::string& piece : pieces) {
    text += piece;
  }
  std::string written;
  append_json_string(written, text);
  const std::string_view behind_quote = std::string_view{written}.substr(1);
  const JsonStringScan scan = scan_json_string(behind_quote);
  RC_ASSERT(scan.error.empty());
  RC_ASSERT(scan.length + 1 == behind_quote.size());
  RC_ASSERT(scan.has_escape == (text.find_first_of("\"\\\n\x01") != std::string::npos));
  RC_ASSERT(decode_json_content(behind_quote.substr(0, scan.length)) == text);
}

// Compares the word-wise scan with a byte-wise one.
RC_GTEST_PROP(JsonStringScan, FindsTheFirstSpecialByte, (const std::string& bytes)) {
  std::size_t plain = 0;
  while (plain < bytes.size() && bytes[plain] >= 0x20 && bytes[plain] != '"' &&
         bytes[plain] != '\\') {
    ++plain;
  }
  const JsonStringScan scan = scan_json_string(bytes);
  RC_ASSERT(scan.length >= plain);
  if (plain < bytes.size() && bytes[plain] == '"') {
    RC_ASSERT(scan.length == plain);
    RC_ASSERT(scan.error.empty());
  }
}

TEST(AppendJsonString, EscapesOnlyWhatJsonRequires) {
  std::string out = "=";
  append_json_string(out, std::string_view{"a\"b\\c/\n\r\t\b\f\0\x1f\x7f\xc3\xa4", 16});
  EXPECT_EQ(out, "=\"a\\\"b\\\\c/\\n\\r\\t\\u0008\\u000c\\u0000\\u001f\x7f\xc3\xa4\"");
  out.clear();
  append_json_string(out, "");
  EXPECT_EQ(out, "\"\"");
}

RC_GTEST_PROP(AppendJsonString, RoundTrips, (std::string text)) {
  for (char& character : text) {
    character = static_cast<char>(character & 0x7f);
  }
  std::string written;
  append_json_string(written, text);
  RC_ASSERT(decode_json_string(written) == text);
}

}  // namespace
}  // namespace postrider
