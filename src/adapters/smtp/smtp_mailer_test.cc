// Against a real SMTP server: tests/servers/smtp.py says how it treats recipients.
#include "adapters/smtp/smtp_mailer.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/server_process.h"

namespace postrider {
namespace {

test::ServerProcess& server() {
  static test::ServerProcess started{"smtp"};
  return started;
}

std::uint16_t port(std::string_view name) {
  return static_cast<std::uint16_t>(std::stoi(server().member(name)));
}

SmtpOptions options() {
  return {.server = "127.0.0.1",
          .port = port("port"),
          .security = SmtpSecurity::starttls,
          .ca_file = server().member("ca_file"),
          .user = {},
          .password = {},
          .timeout = Millis{20'000}};
}

SmtpOptions with_login(SmtpOptions made) {
  made.user = server().member("user");
  made.password = [] { return Secret{server().member("password")}; };
  return made;
}

/// What the server has accepted, as JSON texts.
std::vector<std::string> mails() {
  std::vector<std::string> found;
  for (int number = 1;; ++number) {
    std::ifstream file{std::filesystem::path{server().member("directory")} /
                       fmt::format("{}.json", number)};
    if (!file.is_open()) {
      return found;
    }
    found.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
  }
}

Mail mail_to(std::string to) {
  return {.from = "Postrider <postrider@example.com>",
          .to = std::move(to),
          .subject = "Circuit opened",
          .text = "The circuit is open.\n.\nNext line\n",
          .html = "<p>The circuit is open.</p>",
          .id = "ntf_1",
          .thread = std::nullopt,
          .date = wall_from_unix_ms(1'767'268'800'000)};
}

MailOutcome send(const SmtpOptions& made, const Mail& mail) {
  return make_smtp_mailer(made)->send(mail);
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(SmtpMailer, SendsWithStartTls) {
  const std::size_t before = mails().size();
  EXPECT_EQ(send(options(), mail_to("ops@example.com")), MailOutcome{});
  ASSERT_EQ(mails().size(), before + 1);
  const std::string mail = mails().back();
  EXPECT_TRUE(contains(mail, R"("sender": "postrider@example.com")")) << mail;
  EXPECT_TRUE(contains(mail, R"("recipients": ["ops@example.com"])"));
  EXPECT_TRUE(contains(mail, R"("tls": true, "user": "")"));
  EXPECT_TRUE(contains(mail, R"(\nSubject: Circuit opened\r\n)"));
  EXPECT_TRUE(contains(mail, R"(The circuit is open.\r\n=2E\r\nNext line)"));
}

TEST(SmtpMailer, SendsWithTlsAndLogsIn) {
  SmtpOptions made = with_login(options());
  made.port = port("tls_port");
  made.security = SmtpSecurity::tls;
  Mail mail = mail_to("ops@example.com");
  mail.from = "login@example.com";
  EXPECT_EQ(send(made, mail), MailOutcome{});
  EXPECT_TRUE(contains(mails().back(), R"("tls": true, "user": "postrider")"));
}

TEST(SmtpMailer, LogsInAfterStartTls) {
  Mail mail = mail_to("ops@example.com");
  mail.from = "login@example.com";
  EXPECT_EQ(send(with_login(options()), mail), MailOutcome{});
  EXPECT_TRUE(contains(mails().back(), R"("tls": true, "user": "postrider")"));
}

TEST(SmtpMailer, SendsWithoutTlsOnlyIfToldTo) {
  SmtpOptions made = options();
  made.port = port("plain_port");
  const MailOutcome refused = send(made, mail_to("ops@example.com"));
  EXPECT_EQ(refused.verdict, MailVerdict::unreachable);
  made.security = SmtpSecurity::none;
  EXPECT_EQ(send(made, mail_to("ops@example.com")), MailOutcome{});
  EXPECT_TRUE(contains(mails().back(), R"("tls": false)"));
}

TEST(SmtpMailer, RefusesACertificateOfAnUnknownAuthority) {
  SmtpOptions made = options();
  made.ca_file.clear();
  const MailOutcome outcome = send(made, mail_to("ops@example.com"));
  EXPECT_EQ(outcome.verdict, MailVerdict::unreachable);
  EXPECT_TRUE(contains(outcome.reason, "certificate")) << outcome.reason;
}

TEST(SmtpMailer, AWrongPasswordIsTheServersNotTheMails) {
  SmtpOptions made = with_login(options());
  made.password = [] { return Secret{std::string{"wrong password"}}; };
  const MailOutcome outcome = send(made, mail_to("ops@example.com"));
  EXPECT_EQ(outcome.verdict, MailVerdict::unreachable);
  EXPECT_TRUE(contains(outcome.reason, "535")) << outcome.reason;
  EXPECT_FALSE(contains(outcome.reason, "wrong password"));
}

TEST(SmtpMailer, APasswordThatCannotBeReadIsReported) {
  SmtpOptions made = with_login(options());
  made.password = [] { return fail(Errc::unavailable, "Cannot read /etc/password"); };
  EXPECT_EQ(send(made, mail_to("ops@example.com")),
            (MailOutcome{MailVerdict::unreachable, "Cannot read /etc/password"}));
}

TEST(SmtpMailer, AMissingLoginIsRefusedForGood) {
  Mail mail = mail_to("ops@example.com");
  mail.from = "login@example.com";
  const MailOutcome outcome = send(options(), mail);
  EXPECT_EQ(outcome.verdict, MailVerdict::refused);
  EXPECT_TRUE(contains(outcome.reason, "530 5.7.0 Authentication required")) << outcome.reason;
}

TEST(SmtpMailer, TellsFinalFromTemporaryRefusals) {
  const std::size_t before = mails().size();
  const MailOutcome unknown = send(options(), mail_to("unknown@example.com"));
  EXPECT_EQ(unknown.verdict, MailVerdict::refused);
  EXPECT_EQ(unknown.code, 550);
  EXPECT_TRUE(unknown.reason.ends_with("refused the mail: 550 5.1.1 No such user here"))
      << unknown.reason;
  EXPECT_EQ(send(options(), mail_to("spam@example.com")).verdict, MailVerdict::refused);
  EXPECT_EQ(send(options(), mail_to("busy@example.com")).verdict, MailVerdict::postponed);
  EXPECT_EQ(send(options(), mail_to("greylisted@example.com")).verdict, MailVerdict::postponed);
  EXPECT_EQ(mails().size(), before);
  EXPECT_EQ(send(options(), mail_to("greylisted@example.com")), MailOutcome{});
  EXPECT_EQ(mails().size(), before + 1);
}

TEST(SmtpMailer, AnAddressCannotAddACommand) {
  const std::size_t before = mails().size();
  for (const char* address : {"a@example.com>\r\nRCPT TO:<b@example.com", "", "a\nb@example.com"}) {
    EXPECT_EQ(send(options(), mail_to(address)).verdict, MailVerdict::refused);
  }
  EXPECT_EQ(mails().size(), before);
}

TEST(SmtpMailer, AServerThatHangsIsGivenUp) {
  SmtpOptions made = options();
  made.timeout = Millis{1'500};
  const MailOutcome outcome = send(made, mail_to("hangs@example.com"));
  EXPECT_EQ(outcome.verdict, MailVerdict::unreachable);
  EXPECT_TRUE(contains(outcome.reason, "timed out")) << outcome.reason;
}

TEST(SmtpMailer, StopEndsASend) {
  SmtpOptions made = options();
  made.timeout = Millis{3'600'000};
  const std::unique_ptr<Mailer> mailer = make_smtp_mailer(made);
  std::thread stopper{[&] { mailer->stop(); }};
  EXPECT_EQ(mailer->send(mail_to("hangs@example.com")).verdict, MailVerdict::unreachable);
  stopper.join();
}

TEST(SmtpMailer, WorksAgainAfterAnOutage) {
  server().command("stop");
  EXPECT_EQ(send(options(), mail_to("ops@example.com")).verdict, MailVerdict::unreachable);
  server().command("start");
  EXPECT_EQ(send(options(), mail_to("ops@example.com")), MailOutcome{});
}

TEST(SmtpMailer, AnUnknownServerIsUnreachable) {
  SmtpOptions made = options();
  made.server = "mail.invalid";
  EXPECT_EQ(send(made, mail_to("ops@example.com")).verdict, MailVerdict::unreachable);
}

}  // namespace
}  // namespace postrider
