#include "adapters/postgres/store/database/escaped_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider::postgres {
namespace {

TEST(EscapedText, TextThatTheDatabaseAcceptsIsKept) {
  for (const std::string_view text :
       {"", "a", "\x02\x1f\x7f", "order.created order.created",
        "gr\xC3\xBC\xC3\x9F"
        "e",
        "\xE2\x82\xAC \xEF\xBF\xBF", "\xF0\x9F\x90\xB4", "\xF4\x8F\xBF\xBF", "seven.. \xC3\xA4"}) {
    EXPECT_EQ(escape_text(text), text);
    EXPECT_FALSE(is_escaped(text));
    EXPECT_EQ(unescape_text(text), text);
  }
}

TEST(EscapedText, OtherBytesBecomeTwoDigits) {
  using namespace std::string_view_literals;
  struct Case {
    std::string_view text;
    std::string_view stored;
  };
  const Case cases[] = {
      {"\0"sv,
       "\x01"
       "00"},
      {"\x01",
       "\x01"
       "01"},
      {"12345678\0"sv,
       "12345678\x01"
       "00"},
      {"1234567\0"
       "8"sv,
       "1234567\x01"
       "008"},
      {"\x80",
       "\x01"
       "80"},
      {"a\xFFz",
       "a\x01"
       "ffz"},
      {"\xC3",
       "\x01"
       "c3"},  // Cut off.
      {"\xC0\x80",
       "\x01"
       "c0\x01"
       "80"},  // Too long a form.
      {"\xED\xA0\x80",
       "\x01"
       "ed\x01"
       "a0\x01"
       "80"},  // Half of a surrogate pair.
      {"\xF4\x90\x80\x80",
       "\x01"
       "f4\x01"
       "90\x01"
       "80\x01"
       "80"},  // Beyond Unicode.
      {"\xE2\x82",
       "\x01"
       "e2\x01"
       "82"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(escape_text(c.text), c.stored);
    EXPECT_TRUE(is_escaped(c.stored));
    EXPECT_EQ(unescape_text(c.stored), c.text);
  }
}

TEST(EscapedText, WhatWasNotWrittenByUsIsKept) {
  for (const std::string_view stored : {"\x01", "a\x01",
                                        "\x01"
                                        "0",
                                        "\x01"
                                        "0g",
                                        "\x01"
                                        "AB"}) {
    EXPECT_EQ(unescape_text(stored), stored);
  }
}

RC_GTEST_PROP(EscapedText, EveryTextComesBack, (const std::string& text)) {
  const std::string stored = escape_text(text);
  RC_ASSERT(unescape_text(stored) == text);
  RC_ASSERT(stored.find('\0') == std::string::npos);
  RC_ASSERT(escape_text(stored) == stored || is_escaped(stored));
}

}  // namespace
}  // namespace postrider::postgres
