#include "core/notify/mail.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);

Mail example() {
  return {.from = "Postrider <postrider@example.com>",
          .to = "a@example.com",
          .subject = "Circuit opened: Orders",
          .text = "One\nTwo = 2\n",
          .html = "<p>One</p>\n",
          .id = "ntf_1",
          .thread = std::nullopt,
          .date = noon};
}

TEST(Mail, HasHeadersAndTwoParts) {
  EXPECT_EQ(render_mail(example()),
            "From: Postrider <postrider@example.com>\r\n"
            "To: a@example.com\r\n"
            "Subject: Circuit opened: Orders\r\n"
            "Date: Thu, 01 Jan 2026 12:00:00 +0000\r\n"
            "Message-ID: <ntf_1@example.com>\r\n"
            "Auto-Submitted: auto-generated\r\n"
            "MIME-Version: 1.0\r\n"
            "Content-Type: multipart/alternative; boundary=\"=_ntf_1\"\r\n"
            "\r\n"
            "--=_ntf_1\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Transfer-Encoding: quoted-printable\r\n"
            "\r\n"
            "One\r\nTwo =3D 2\r\n\r\n"
            "--=_ntf_1\r\n"
            "Content-Type: text/html; charset=utf-8\r\n"
            "Content-Transfer-Encoding: quoted-printable\r\n"
            "\r\n"
            "<p>One</p>\r\n\r\n"
            "--=_ntf_1--\r\n");
}

TEST(Mail, MailsOfOneThreadReferToTheSameId) {
  Mail mail = example();
  mail.thread = "alt_1";
  const std::string text = render_mail(mail);
  EXPECT_NE(text.find("\r\nIn-Reply-To: <alt_1@example.com>\r\n"), std::string::npos);
  EXPECT_NE(text.find("\r\nReferences: <alt_1@example.com>\r\n"), std::string::npos);
}

TEST(Mail, ALineBreakInAFieldDoesNotBeginAnother) {
  Mail mail = example();
  mail.subject = "Orders\r\nBcc: everybody@example.com";
  mail.to = "a@example.com\nBcc: everybody@example.com";
  mail.from = "Post\rrider <postrider@example.com>\r\nBcc: x@example.com";
  const std::string text = render_mail(mail);
  EXPECT_EQ(text.find("\nBcc:"), std::string::npos);
  EXPECT_EQ(text.find("\rBcc:"), std::string::npos);
  EXPECT_NE(text.find("Subject: Orders  Bcc: everybody@example.com\r\n"), std::string::npos);
}

TEST(EncodeHeaderText, EncodesOtherTextThanAscii) {
  EXPECT_EQ(encode_header_text("plain"), "plain");
  EXPECT_EQ(encode_header_text(""), "");
  EXPECT_EQ(encode_header_text("Aufträge"), "=?utf-8?B?QXVmdHLDpGdl?=");
  // Would be read as an encoded word.
  EXPECT_EQ(encode_header_text("=?x?="), "=?utf-8?B?PT94Pz0=?=");
}

TEST(EncodeHeaderText, SplitsLongTextBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "ä";
  }
  const std::string encoded = encode_header_text(text);
  // 44 bytes, 36 bytes: 45 would split a character.
  EXPECT_EQ(encoded.find("\r\n "), 12u + 60u);
  EXPECT_EQ(encoded.size(), 12u + 60u + 3u + 12u + 48u);
}

TEST(EncodeHeaderText, LongAsciiTextIsFolded) {
  const std::string encoded = encode_header_text(std::string(200, 'a'));
  std::size_t length = 0;
  for (const char letter : encoded) {
    length = letter == '\n' ? 0 : length + 1;
    EXPECT_LE(length, 76u);
  }
}

TEST(QuotedPrintable, EncodesWhatMustNotTravelAsItIs) {
  EXPECT_EQ(encode_quoted_printable(""), "");
  EXPECT_EQ(encode_quoted_printable("a=b"), "a=3Db");
  EXPECT_EQ(encode_quoted_printable("ä"), "=C3=A4");
  EXPECT_EQ(encode_quoted_printable("a \nb\t"), "a=20\r\nb=09");
  EXPECT_EQ(encode_quoted_printable("a\r\nb"), "a\r\nb");
  EXPECT_EQ(encode_quoted_printable("a\rb"), "a=0Db");
  EXPECT_EQ(encode_quoted_printable(".\n.."), "=2E\r\n=2E.");
}

TEST(QuotedPrintable, BreaksLongLines) {
  EXPECT_EQ(encode_quoted_printable(std::string(80, 'a')),
            std::string(75, 'a') + "=\r\n" + std::string(5, 'a'));
  const std::string encoded = encode_quoted_printable(std::string(74, 'a') + "ä");
  EXPECT_EQ(encoded, std::string(74, 'a') + "=\r\n=C3=A4");
}

TEST(MailboxAddress, IsInAngleBrackets) {
  EXPECT_EQ(mailbox_address("a@b.c"), "a@b.c");
  EXPECT_EQ(mailbox_address("Ann <a@b.c>"), "a@b.c");
  EXPECT_EQ(mailbox_address("Ann <a@b.c"), "Ann <a@b.c");
}

TEST(MailDate, IsInUtc) {
  EXPECT_EQ(mail_date(wall_from_unix_ms(0)), "Thu, 01 Jan 1970 00:00:00 +0000");
  EXPECT_EQ(mail_date(wall_from_unix_ms(1'767'225'599'999)), "Wed, 31 Dec 2025 23:59:59 +0000");
}

}  // namespace
}  // namespace postrider
