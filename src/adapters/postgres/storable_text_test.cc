#include "adapters/postgres/storable_text.h"

#include <gtest/gtest.h>

namespace postrider::postgres {
namespace {

using std::string_literals::operator""s;

TEST(StorableText, KeepsWhatTheDatabaseCanStore) {
  EXPECT_EQ(storable_text("it's \"odd\"\n\xC3\xA4", true), "it's \"odd\"\n\xC3\xA4");
  EXPECT_EQ(storable_text("a\0b"s, true), "a?b");
  EXPECT_EQ(storable_text("\xC3\xA4", false), "??");
  EXPECT_EQ(storable_text("\xC3( \xC3\xA4", true), "?( ??");
}

TEST(ArrayText, QuotesEveryElement) {
  EXPECT_EQ(array_text({}), "{}");
  EXPECT_EQ(array_text({"a", "", "b\"c\\d,{}", "NULL"}), R"({"a","","b\"c\\d,{}","NULL"})");
}

}  // namespace
}  // namespace postrider::postgres
