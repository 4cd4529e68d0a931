#include "core/model/email_address.h"

#include <string>

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(EmailAddress, OrdinaryAddressesAreAccepted) {
  for (const char* text : {"ops@example.com", "a.b+tag@mail.example.org", "root@localhost",
                           "o'hara@example.com", "x_y-z@1and1.de", "a@b"}) {
    EXPECT_TRUE(is_email_address(text)) << text;
  }
}

TEST(EmailAddress, NothingCanEndAHeaderOrAddARecipient) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"a@example.com\r\nBcc: b@example.com"sv, "a@example.com\n"sv, "a\r@example.com"sv,
        "a@example.com,b@example.com"sv, "a@example.com;b@example.com"sv, "a@example.com b"sv,
        "A <a@example.com>"sv, "<a@example.com>"sv, "\"a b\"@example.com"sv, "a\0@example.com"sv,
        "a@exam\tple.com"sv, "a\\b@example.com"sv, "a@b@example.com"sv, "a(x)@example.com"sv,
        "a@[127.0.0.1]"sv, "a@example.com\x7f"sv, "\xc3\xa4@example.com"sv,
        "a@\xe2\x80\xa8.com"sv}) {
    EXPECT_FALSE(is_email_address(text)) << text;
  }
}

TEST(EmailAddress, BothPartsArePresentAndWellFormed) {
  for (const char* text : {"", "@", "a", "a@", "@b", "a@.b", "a@b.", "a@b..c", ".a@b", "a.@b",
                           "a..b@c", "a@-b.com", "a@b-.com", "a@b_c.com"}) {
    EXPECT_FALSE(is_email_address(text)) << text;
  }
}

TEST(EmailAddress, LengthsAreLimited) {
  EXPECT_TRUE(is_email_address(std::string(64, 'a') + "@b"));
  EXPECT_FALSE(is_email_address(std::string(65, 'a') + "@b"));
  EXPECT_TRUE(is_email_address("a@" + std::string(63, 'b') + ".com"));
  EXPECT_FALSE(is_email_address("a@" + std::string(64, 'b') + ".com"));
  std::string domain = std::string(63, 'b');
  for (int label = 0; label < 3; ++label) {
    domain += "." + std::string(63, 'b');
  }
  EXPECT_FALSE(is_email_address("a@" + domain));  // 257 characters.
}

}  // namespace
}  // namespace postrider
