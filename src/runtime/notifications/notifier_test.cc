#include "runtime/notifications/notifier.h"

#include <future>

#include <gtest/gtest.h>

#include "core/json/json_text.h"

#include "tests/support/manual_clock.h"
#include "tests/support/scripted_mailer.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using State = NotificationState;
using Transition = NotificationTransition;

const ChannelId mail{{1}};
const ChannelId chat{{2}};
const ChannelId theirs{{3}};
const WebhookId chat_webhook{{9}};

class RecordedAlerts final : public AlertSink {
 public:
  void on_alert_change(const AlertChange& change) override { changes.push_back(change); }
  std::vector<AlertChange> changes;
};

class NotifierTest : public testing::Test {
 protected:
  NotifierTest() {
    NotificationChannel mail_channel;
    mail_channel.id = mail;
    mail_channel.name = "Operators";
    mail_channel.email.to = {"ops@example.com", "second@example.com"};
    mail_channel.group_window = 1min;
    NotificationChannel chat_channel = mail_channel;
    chat_channel.id = chat;
    chat_channel.name = "Chat";
    chat_channel.kind = ChannelKind::slack;
    chat_channel.webhook_id = chat_webhook;
    NotificationChannel tenant_channel = mail_channel;
    tenant_channel.id = theirs;
    tenant_channel.tenant_id = "acme";
    channels_ = std::make_shared<const ChannelDirectory>(
        std::vector{mail_channel, chat_channel, tenant_channel});
    Webhook webhook;
    webhook.id = chat_webhook;
    webhook.tenant_id = TenantId{reserved_tenant};
    webhooks_ = std::make_shared<const Directory>(
        std::vector<WebhookRef>{std::make_shared<const Webhook>(webhook)});
    notifier_ = std::make_unique<Notifier>(
        NotificationOptions{.mail_from = "postrider@example.com",
                            .public_url = "https://p.example",
                            .texts = *MessageTexts::make({})},
        Notifier::Parts{.clock = &clock_,
                        .mailer = std::make_unique<test::ScriptedMailer>(mails_),
                        .channels = [this] { return channels_; },
                        .settle =
                            [this](const NotificationOutcomes& outcomes) {
                              settled_.insert(settled_.end(), outcomes.begin(), outcomes.end());
                            },
                        .alerts = &alerts_},
        MessageSender::Parts{.clock = &clock_,
                             .mailer = nullptr,
                             .new_uuid = [this] { return ids_.next(clock_.now().wall); },
                             .webhooks = [this] { return webhooks_; },
                             .access = [] { return std::make_shared<const AccessSnapshot>(); },
                             .publish = [this](Event event, WebhookId id) -> Result<void> {
                               if (store_fails_) {
                                 return fail(Errc::unavailable, "The store cannot write.");
                               }
                               published_.emplace_back(std::move(event), id);
                               return {};
                             }});
  }

  Notification make(ChannelId channel, Transition transition = Transition::raised) {
    Notification made;
    made.id = NotificationId{ids_.next(clock_.now().wall)};
    made.channel_id = channel;
    made.kind = NotificationKind::of(AlertKind::circuit_opened);
    made.transition = transition;
    made.alert_id = AlertId{{3}};
    made.facts.webhook_id = WebhookId{{7}};
    made.facts.webhook_name = "Orders";
    made.facts.detail = "10.0.0.7 does not answer.";
    made.facts.raised_at = clock_.now().wall;
    made.made_at = clock_.now().wall;
    return made;
  }
  /// Works until the next message is due, and sends it.
  void work_on() {
    const std::optional<WallTime> next = notifier_->work();
    if (next) {
      clock_.advance(std::max(*next - clock_.now().steady, Millis{0}));
      notifier_->work();
    }
  }
  double metric(const std::string& kind, const std::string& outcome) const {
    for (const MetricSample& sample : notifier_->samples()) {
      if (sample.labels == std::vector<std::pair<std::string, std::string>>{{"channel_kind", kind},
                                                                            {"outcome", outcome}}) {
        return sample.value;
      }
    }
    return -1;
  }

  test::ManualClock clock_;
  UuidGenerator ids_{1};
  test::ScriptedMailer::Script mails_;
  std::shared_ptr<const ChannelDirectory> channels_;
  std::shared_ptr<const Directory> webhooks_;
  NotificationOutcomes settled_;
  RecordedAlerts alerts_;
  bool store_fails_ = false;
  std::vector<std::pair<Event, WebhookId>> published_;
  std::unique_ptr<Notifier> notifier_;
};

TEST_F(NotifierTest, SendsAMailToEachRecipientAfterTheWindow) {
  notifier_->submit({make(mail)});
  notifier_->work();
  EXPECT_TRUE(mails_.accepted.empty());
  work_on();
  ASSERT_EQ(mails_.accepted.size(), 2u);
  const Mail& first = mails_.accepted[0];
  EXPECT_EQ(first.from, "postrider@example.com");
  EXPECT_EQ(first.to, "ops@example.com");
  EXPECT_EQ(mails_.accepted[1].to, "second@example.com");
  EXPECT_NE(first.id, mails_.accepted[1].id);
  EXPECT_EQ(first.subject, "[Postrider] Circuit opened: Orders");
  EXPECT_NE(first.text.find("10.0.0.7"), std::string::npos);
  EXPECT_NE(first.html.find("https://p.example/webhooks/"), std::string::npos);
  EXPECT_EQ(first.thread, AlertId{{3}}.to_string());
  ASSERT_EQ(settled_.size(), 1u);
  EXPECT_EQ(settled_[0].state, State::sent);
  EXPECT_TRUE(settled_[0].message_id);
  EXPECT_EQ(settled_[0].sent_at, clock_.now().wall);
  EXPECT_EQ(metric("email", "sent"), 1);
}

TEST_F(NotifierTest, ATenantSeesNoInternalAddress) {
  notifier_->submit({make(theirs)});
  work_on();
  ASSERT_EQ(mails_.accepted.size(), 2u);
  EXPECT_EQ(mails_.accepted[0].text.find("10.0.0.7"), std::string::npos);
}

TEST_F(NotifierTest, PublishesToTheWebhookOfTheChannel) {
  notifier_->submit({make(chat)});
  work_on();
  ASSERT_EQ(published_.size(), 1u);
  const auto& [event, webhook_id] = published_[0];
  EXPECT_EQ(webhook_id, chat_webhook);
  EXPECT_EQ(event.tenant_id, reserved_tenant);
  EXPECT_EQ(event.type, "postrider.alert.raised");
  EXPECT_TRUE(check_json(event.data));
  EXPECT_TRUE(event.data.starts_with(R"({"text":"Circuit opened: Orders","blocks":[)"));
  ASSERT_EQ(settled_.size(), 1u);
  EXPECT_EQ(settled_[0].event_id, event.id);
}

TEST_F(NotifierTest, WhileTheStoreFailsAnEventWaits) {
  store_fails_ = true;
  notifier_->submit({make(chat)});
  work_on();
  ASSERT_EQ(settled_.size(), 1u);
  EXPECT_EQ(settled_[0].state, State::waiting);
  EXPECT_EQ(settled_[0].last_error, "The store cannot write.");
  store_fails_ = false;
  work_on();
  EXPECT_EQ(published_.size(), 1u);
}

TEST_F(NotifierTest, AWebhookThatIsOffIsTriedLater) {
  Webhook webhook;
  webhook.id = chat_webhook;
  webhook.active = false;
  webhooks_ = std::make_shared<const Directory>(
      std::vector<WebhookRef>{std::make_shared<const Webhook>(webhook)});
  notifier_->submit({make(chat)});
  work_on();
  ASSERT_EQ(settled_.size(), 1u);
  EXPECT_EQ(settled_[0].last_error, "The webhook of the channel is switched off.");
}

TEST_F(NotifierTest, ARecipientThatWasServedIsNotServedAgain) {
  bool greylists = true;
  mails_.judge = [&](const Mail& each) {
    return each.to == "second@example.com" && std::exchange(greylists, false)
               ? MailOutcome{MailVerdict::postponed, "450 later", 450}
               : MailOutcome{};
  };
  notifier_->submit({make(mail)});
  work_on();
  EXPECT_EQ(settled_.back().state, State::waiting);
  work_on();
  EXPECT_EQ(settled_.back().state, State::sent);
  ASSERT_EQ(mails_.accepted.size(), 2u);
  EXPECT_EQ(mails_.accepted[0].to, "ops@example.com");
  EXPECT_EQ(mails_.accepted[1].to, "second@example.com");
}

TEST_F(NotifierTest, ARefusedRecipientDoesNotKeepTheOthersFromBeingTold) {
  mails_.judge = [](const Mail& each) {
    return each.to == "ops@example.com" ? MailOutcome{MailVerdict::refused, "550 unknown", 550}
                                        : MailOutcome{};
  };
  notifier_->submit({make(mail)});
  work_on();
  ASSERT_EQ(settled_.size(), 1u);
  EXPECT_EQ(settled_[0].state, State::sent);
  EXPECT_EQ(settled_[0].last_error, "550 unknown.");
}

TEST_F(NotifierTest, ATenantDoesNotLearnTheNameOfTheMailServer) {
  mails_.judge = [](const Mail&) {
    return MailOutcome{MailVerdict::unreachable, "The SMTP server mail.internal:25 is down"};
  };
  notifier_->submit({make(theirs), make(mail)});
  work_on();
  work_on();
  ASSERT_EQ(settled_.size(), 2u);
  std::set<std::string> errors{settled_[0].last_error, settled_[1].last_error};
  EXPECT_EQ(errors, (std::set<std::string>{"The SMTP server mail.internal:25 is down.",
                                           "The mail server cannot be used at the moment."}));
}

TEST_F(NotifierTest, FailingChannelsRaiseAnAlertUntilOneMessageIsSent) {
  mails_.judge = [](const Mail&) {
    return MailOutcome{MailVerdict::unreachable, "The SMTP server is down"};
  };
  notifier_->submit({make(mail)});
  for (int failures = 0; failures < 3; ++failures) {
    EXPECT_TRUE(alerts_.changes.empty());
    work_on();
  }
  ASSERT_EQ(alerts_.changes.size(), 1u);
  EXPECT_EQ(alerts_.changes[0].subject.kind, AlertKind::notifications_failing);
  EXPECT_EQ(alerts_.changes[0].subject.tenant_id, std::nullopt);
  EXPECT_EQ(alerts_.changes[0].detail,
            "The notification channel \"Operators\" cannot send: The SMTP server is down.");
  EXPECT_EQ(notifier_->failing(), std::set<ChannelId>{mail});
  EXPECT_EQ(metric("email", "retried"), 3);
  mails_.judge = nullptr;
  work_on();
  ASSERT_EQ(alerts_.changes.size(), 2u);
  EXPECT_FALSE(alerts_.changes[1].active);
  EXPECT_TRUE(notifier_->failing().empty());
  EXPECT_EQ(mails_.accepted.size(), 2u);
}

TEST_F(NotifierTest, ATestIsAnsweredAtOnce) {
  Notification test = make(mail, Transition::test);
  test.kind = NotificationKind::test();
  std::optional<NotificationOutcome> outcome;
  notifier_->submit_test(test, [&](NotificationOutcome settled) { outcome = settled; });
  notifier_->work();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->state, State::sent);
  EXPECT_EQ(mails_.accepted.at(0).subject,
            "[Postrider] Test of the notification channel Operators");
}

TEST_F(NotifierTest, ContinuesWithWhatTheLastRunLeft) {
  Notification waiting = make(mail);
  waiting.made_at -= 1h;
  Notification resolved = make(theirs, Transition::resolved);
  NotificationsBefore before;
  before.waiting = {waiting, resolved};
  before.told = {{theirs, AlertId{{3}}}};
  notifier_->restore(before);
  notifier_->work();
  EXPECT_EQ(mails_.accepted.size(), 2u);  // The window is over.
  work_on();
  EXPECT_EQ(mails_.accepted.size(), 4u);
  EXPECT_EQ(mails_.accepted.back().subject, "[Postrider] Circuit recovered: Orders");
}

TEST_F(NotifierTest, AnotherServerContinues) {
  notifier_->submit({make(mail)});
  notifier_->work();
  notifier_->submit({make(theirs)});
  notifier_->hand_over();
  work_on();
  EXPECT_TRUE(mails_.accepted.empty());
  EXPECT_TRUE(settled_.empty());
}

TEST_F(NotifierTest, DoesNotSendAgainWhatItWasSendingWhenItHandedOver) {
  const Notification sending = make(mail);
  const Notification other = make(theirs);
  mails_.judge = [&](const Mail& each) {
    if (each.to == "ops@example.com" && mails_.accepted.empty()) {
      notifier_->hand_over();
    }
    return MailOutcome{};
  };
  notifier_->submit({sending});
  work_on();
  ASSERT_EQ(settled_.size(), 1u);
  EXPECT_EQ(settled_[0].id, sending.id);
  // Loaded before its outcome was stored.
  NotificationsBefore before;
  before.waiting = {sending, other};
  notifier_->take_over(before);
  work_on();
  ASSERT_EQ(settled_.size(), 2u);
  EXPECT_EQ(settled_[1].id, other.id);
}

TEST_F(NotifierTest, TheServerThatContinuesResolvesTheAlertAboutAFailingChannel) {
  mails_.judge = [](const Mail&) { return MailOutcome{MailVerdict::refused, "550 no", 550}; };
  notifier_->submit({make(mail)});
  work_on();
  ASSERT_EQ(alerts_.changes.size(), 1u);
  notifier_->hand_over();
  notifier_->work();
  EXPECT_EQ(alerts_.changes.size(), 1u);
  Alert alert;
  alert.subject = alerts_.changes[0].subject;
  alert.detail = alerts_.changes[0].detail;
  NotificationsBefore before;
  before.alerts = {alert};
  before.waiting = {make(mail)};
  mails_.judge = nullptr;
  notifier_->take_over(before);
  work_on();
  ASSERT_EQ(alerts_.changes.size(), 2u);
  EXPECT_FALSE(alerts_.changes[1].active);
}

TEST_F(NotifierTest, TheThreadSendsWhatIsSubmittedAndStops) {
  notifier_->start();
  Notification test = make(mail, Transition::test);
  std::promise<State> settled;
  notifier_->submit_test(test,
                         [&](const NotificationOutcome& done) { settled.set_value(done.state); });
  EXPECT_EQ(settled.get_future().get(), State::sent);
  notifier_->stop();
  EXPECT_TRUE(mails_.stopped);
}

}  // namespace
}  // namespace postrider
