#include "adapters/smtp/smtp_dialogue.h"

#include <gtest/gtest.h>

namespace postrider::smtp {
namespace {

TEST(Dialogue, KnowsWhetherTheMailOrTheClientWasRefused) {
  Dialogue dialogue;
  EXPECT_EQ(dialogue.refusal(), std::nullopt);
  dialogue.received("554 go away\r\n");
  EXPECT_EQ(dialogue.refusal(), (Reply{554, "554 go away"}));
  EXPECT_FALSE(dialogue.is_about_mail());
  dialogue.sent("AUTH PLAIN c2VjcmV0\r\n");
  dialogue.received("535 wrong\r\n");
  EXPECT_FALSE(dialogue.is_about_mail());
  dialogue.sent("MAIL FROM:<a@b.c>\r\n");
  EXPECT_TRUE(dialogue.is_about_mail());
  dialogue.sent("DATA\r\n");
  dialogue.received("354 go on\r\n");
  EXPECT_EQ(dialogue.refusal(), std::nullopt);
  dialogue.received("451 later\r\n");
  EXPECT_EQ(dialogue.refusal(), (Reply{451, "451 later"}));
  EXPECT_TRUE(dialogue.is_about_mail());
}

TEST(Dialogue, TheGoodbyeDoesNotCount) {
  Dialogue dialogue;
  dialogue.sent("RCPT TO:<x@b.c>\r\n");
  dialogue.received("550 No such user\r\n");
  dialogue.sent("QUIT\r\n");
  dialogue.received("221 Bye\r\n");
  EXPECT_EQ(dialogue.refusal(), (Reply{550, "550 No such user"}));
  EXPECT_TRUE(dialogue.is_about_mail());
}

TEST(Dialogue, TheLastLineOfAReplyCounts) {
  Dialogue dialogue;
  dialogue.received("550-one\r\n55");
  EXPECT_EQ(dialogue.refusal(), std::nullopt);
  dialogue.received("0 two\r");
  dialogue.received("\n");
  EXPECT_EQ(dialogue.refusal(), (Reply{550, "550 two"}));
}

TEST(Dialogue, WithstandsAnythingFromTheServer) {
  Dialogue dialogue;
  dialogue.received("\r\n\n12\nabc hello\n5");
  EXPECT_EQ(dialogue.refusal(), std::nullopt);
  dialogue.received("50 \x1b[31m" + std::string(100'000, 'x') + "\n");
  ASSERT_TRUE(dialogue.refusal());
  EXPECT_EQ(dialogue.refusal()->text.size(), reply_length_max);
  EXPECT_TRUE(dialogue.refusal()->text.starts_with("550 ?[31mxxx"));
}

}  // namespace
}  // namespace postrider::smtp
