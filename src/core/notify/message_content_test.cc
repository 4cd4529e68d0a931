#include "core/notify/message_content.h"

#include <gtest/gtest.h>

#include "core/json/json_text.h"
#include "core/notify/kind_text.h"
#include "core/notify/message_texts.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
const WebhookId orders{{7}};

Notification make(AlertKind kind) {
  Notification made;
  made.id = NotificationId{{1}};
  made.kind = NotificationKind::of(kind);
  made.alert_id = AlertId{{3}};
  made.facts.tenant_id = "acme";
  made.facts.webhook_id = orders;
  made.facts.webhook_name = "Orders";
  made.facts.webhook_url = "https://shop.example.com/hook";
  made.facts.detail = "2 of 2 attempts (100 %) failed; the circuit opens at 50 %.";
  made.facts.measure = AlertMeasure{.count = 100, .limit = 50, .unit = AlertUnit::percent};
  made.facts.raised_at = noon;
  return made;
}

class MessageContent : public testing::Test {
 protected:
  std::string render(MessagePart part, const std::vector<Notification>& notifications) {
    facts_.notifications = notifications;
    return texts_.render(part, describe_message(facts_));
  }

  MessageFacts facts_{.notifications = {},
                      .channel_name = "Operators",
                      .public_url = "https://postrider.example.com"};
  MessageTexts texts_ = *MessageTexts::make({});
};

TEST_F(MessageContent, TellsWhatHappenedAndWhatToDo) {
  const Notification opened = make(AlertKind::circuit_opened);
  EXPECT_EQ(render(MessagePart::subject, {opened}), "[Postrider] Circuit opened: Orders");
  EXPECT_EQ(render(MessagePart::text, {opened}),
            "Circuit opened: Orders\n"
            "\n"
            "2 of 2 attempts (100 %) failed; the circuit opens at 50 %.\n"
            "\n"
            "Webhook: Orders\n"
            "Webhook id: " +
                orders.to_string() +
                "\n"
                "URL: https://shop.example.com/hook\n"
                "Tenant: acme\n"
                "Since: 2026-01-01T12:00:00.000Z\n"
                "Measured: 100 %\n"
                "Limit: 50 %\n"
                "\n"
                "What to do: Check the receiver. Its deliveries wait and are sent when it answers "
                "again.\n"
                "\n"
                "https://postrider.example.com/webhooks/" +
                orders.to_string() +
                "\n"
                "\n"
                "Sent by Postrider through the notification channel Operators.\n");
}

TEST_F(MessageContent, TellsThatItIsOver) {
  Notification recovered = make(AlertKind::circuit_opened);
  recovered.transition = NotificationTransition::resolved;
  recovered.facts.resolved_at = noon + 125min;
  EXPECT_EQ(render(MessagePart::subject, {recovered}), "[Postrider] Circuit recovered: Orders");
  const std::string text = render(MessagePart::text, {recovered});
  EXPECT_NE(text.find("Until: 2026-01-01T14:05:00.000Z\nLasted: 2 h 5 min\n"), std::string::npos);
  EXPECT_NE(text.find("What to do: Nothing needs to be done.\n"), std::string::npos);
}

TEST_F(MessageContent, TellsAboutAPermanentFailure) {
  Notification failed = make(AlertKind::permanent_failure);
  failed.facts.detail = "Webhook delivery dlv_1 failed after 5 attempts: max_attempts_exceeded.";
  EXPECT_EQ(render(MessagePart::subject, {failed}), "[Postrider] Webhook delivery failed: Orders");
  const std::string text = render(MessagePart::text, {failed});
  EXPECT_NE(text.find("Webhook delivery dlv_1 failed after 5 attempts"), std::string::npos);
  EXPECT_NE(
      text.find("https://postrider.example.com/dead-letters?webhook_id=" + orders.to_string()),
      std::string::npos);
}

TEST_F(MessageContent, TellsHowManyFailuresThereAre) {
  Notification failing = make(AlertKind::dead_letters);
  failing.facts.measure = AlertMeasure{.count = 11, .limit = 10};
  EXPECT_EQ(render(MessagePart::subject, {failing}),
            "[Postrider] Webhook Orders has 11 failures in the last hour");
  facts_.dead_letters_window = 15min;
  EXPECT_EQ(render(MessagePart::subject, {failing}),
            "[Postrider] Webhook Orders has 11 failures in the last 15 minutes");
}

TEST_F(MessageContent, AWebhookWithoutANameHasItsId) {
  Notification opened = make(AlertKind::circuit_opened);
  opened.facts.webhook_name.reset();
  EXPECT_EQ(render(MessagePart::subject, {opened}),
            "[Postrider] Circuit opened: " + orders.to_string());
}

TEST_F(MessageContent, ManyAreOneMessageWithTheCount) {
  const std::vector<Notification> many(25, make(AlertKind::circuit_opened));
  EXPECT_EQ(render(MessagePart::subject, many), "[Postrider] Circuit opened: Orders and 24 more");
  EXPECT_NE(render(MessagePart::text, many).find("\n5 more are not listed.\n"), std::string::npos);
  EXPECT_EQ(describe_message({.notifications = many}).values["count"], "25");
}

TEST_F(MessageContent, TheSummarySaysHowManyWereHeldBack) {
  facts_.is_summary = true;
  facts_.surplus = 7;
  const std::vector<Notification> held{make(AlertKind::circuit_opened),
                                       make(AlertKind::dns_failing)};
  EXPECT_EQ(render(MessagePart::subject, held),
            "[Postrider] 2 notifications were held back within the last hour");
  const std::string text = render(MessagePart::text, held);
  EXPECT_NE(text.find("Host name does not resolve: Orders"), std::string::npos);
  EXPECT_NE(text.find("7 further notifications were held back."), std::string::npos);
}

TEST_F(MessageContent, TheLastMessageOfTheHourSaysWhenMoreIsTold) {
  facts_.summary_at = noon + 1h;
  for (const MessagePart part :
       {MessagePart::text, MessagePart::html, MessagePart::slack, MessagePart::teams}) {
    EXPECT_NE(render(part, {make(AlertKind::circuit_opened)})
                  .find("What follows is told at 2026-01-01T13:00:00.000Z."),
              std::string::npos);
  }
}

TEST_F(MessageContent, WithoutAPublicUrlThereIsNoLink) {
  facts_.public_url = "";
  for (const MessagePart part :
       {MessagePart::text, MessagePart::html, MessagePart::slack, MessagePart::teams}) {
    const std::string text = render(part, {make(AlertKind::circuit_opened)});
    EXPECT_EQ(text.find("Open in"), std::string::npos);
    EXPECT_EQ(text.find("/webhooks/"), std::string::npos);
  }
}

TEST_F(MessageContent, ATenantDoesNotSeeInternalAddresses) {
  Notification failing = make(AlertKind::webhook_failing);
  failing.facts.detail = "10.0.0.7:443 refused the connection.";
  EXPECT_NE(render(MessagePart::text, {failing}).find("10.0.0.7"), std::string::npos);
  facts_.for_tenant = true;
  EXPECT_EQ(render(MessagePart::text, {failing}).find("10.0.0.7"), std::string::npos);
}

TEST_F(MessageContent, NamesOfHostileTenantsAreOnlyText) {
  Notification opened = make(AlertKind::circuit_opened);
  opened.facts.webhook_name = "<!channel> <script>alert(1)</script> [x](http://evil) {tenant} \"\\";
  opened.facts.tenant_id = "<b>{{subject}}";
  const std::string html = render(MessagePart::html, {opened});
  EXPECT_EQ(html.find("<script>"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos);
  const std::string slack = render(MessagePart::slack, {opened});
  EXPECT_TRUE(check_json(slack)) << slack;
  EXPECT_EQ(slack.find("<!channel>"), std::string::npos);
  const std::string teams = render(MessagePart::teams, {opened});
  EXPECT_TRUE(check_json(teams)) << teams;
  EXPECT_EQ(teams.find("[x](http"), std::string::npos);
  EXPECT_NE(render(MessagePart::subject, {opened}).find("{tenant}"), std::string::npos);
}

TEST_F(MessageContent, EveryKindHasATextInEveryForm) {
  std::vector<NotificationKind> kinds = choosable_kinds();
  kinds.push_back(NotificationKind::test());
  for (const NotificationKind kind : kinds) {
    Notification made = make(AlertKind::circuit_opened);
    made.kind = kind;
    made.facts.source = "orders";
    for (const auto transition :
         {NotificationTransition::raised, NotificationTransition::resolved}) {
      made.transition = transition;
      const std::string subject = render(MessagePart::subject, {made});
      EXPECT_EQ(subject.find('{'), std::string::npos) << subject;
      EXPECT_TRUE(check_json(render(MessagePart::slack, {made})));
      EXPECT_TRUE(check_json(render(MessagePart::teams, {made})));
    }
  }
}

TEST_F(MessageContent, ATestSaysSo) {
  Notification test;
  test.kind = NotificationKind::test();
  test.transition = NotificationTransition::test;
  test.facts.detail = "This is a test.";
  EXPECT_EQ(render(MessagePart::subject, {test}),
            "[Postrider] Test of the notification channel Operators");
  EXPECT_EQ(render(MessagePart::text, {test}).find("Since:"), std::string::npos);
}

TEST_F(MessageContent, SlackGetsTextAndBlocks) {
  const std::string slack = render(MessagePart::slack, {make(AlertKind::circuit_opened)});
  const auto members = read_json_object(slack);
  ASSERT_TRUE(members) << slack;
  ASSERT_EQ(members->size(), 2u);
  EXPECT_EQ((*members)[0].key, "text");
  EXPECT_EQ((*members)[0].value, "\"Circuit opened: Orders\"");
  EXPECT_EQ((*members)[1].key, "blocks");
  const auto blocks = read_json_array((*members)[1].value);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->size(), 3u);
}

TEST(LengthText, HasTwoUnits) {
  EXPECT_EQ(length_text(0ms), "0 ms");
  EXPECT_EQ(length_text(-5ms), "0 ms");
  EXPECT_EQ(length_text(999ms), "999 ms");
  EXPECT_EQ(length_text(59s), "59 s");
  EXPECT_EQ(length_text(60s), "1 min");
  EXPECT_EQ(length_text(61s), "1 min 1 s");
  EXPECT_EQ(length_text(2h + 5min), "2 h 5 min");
  EXPECT_EQ(length_text(49h), "2 d 1 h");
}

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc…");
  EXPECT_EQ(shortened("aää", 2), "a…");
}

}  // namespace
}  // namespace postrider
