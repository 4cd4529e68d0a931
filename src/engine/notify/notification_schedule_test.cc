#include "engine/notify/notification_schedule.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;
using State = NotificationState;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
const ChannelId mail{{1}};
const ChannelId other_mail{{2}};
const ChannelId chat{{3}};

NotificationChannel make(ChannelId id, ChannelKind kind) {
  NotificationChannel channel;
  channel.id = id;
  channel.kind = kind;
  channel.group_window = 0ms;
  return channel;
}

class ScheduleTest : public testing::Test {
 protected:
  static std::shared_ptr<const ChannelDirectory> directory(
      std::vector<NotificationChannel> channels) {
    return std::make_shared<const ChannelDirectory>(std::move(channels));
  }

  NotificationId raise(ChannelId channel, AlertKind kind = AlertKind::circuit_opened) {
    Notification made;
    made.id = NotificationId{{0, ++ids_}};
    made.channel_id = channel;
    made.kind = NotificationKind::of(kind);
    made.alert_id = AlertId{{ids_}};
    made.facts.webhook_id = WebhookId{{ids_}};
    made.made_at = now_;
    schedule_.add(made, now_);
    return made.id;
  }
  /// The channel of the next message; an empty id if there is none.
  ChannelId next() {
    const std::optional<OutgoingMessage> message = schedule_.next(now_);
    return message ? message->channel->id : ChannelId{};
  }
  void finish(ChannelId channel, SendVerdict verdict) {
    schedule_.finish(channel, {.verdict = verdict, .reason = "It failed.", .at = now_}, now_);
  }

  std::uint8_t ids_ = 0;
  WallTime now_ = noon;
  NotificationChannel mail_ = make(mail, ChannelKind::email);
  NotificationSchedule schedule_{
      directory({make(mail, ChannelKind::email), make(other_mail, ChannelKind::email),
                 make(chat, ChannelKind::slack)})};
};

TEST_F(ScheduleTest, ChannelsTakeTurns) {
  raise(mail);
  raise(mail, AlertKind::dns_failing);
  raise(chat);
  EXPECT_EQ(next(), mail);
  EXPECT_EQ(next(), chat);
  EXPECT_EQ(next(), ChannelId{});
  finish(chat, SendVerdict::sent);
  finish(mail, SendVerdict::sent);
  EXPECT_EQ(next(), mail);
  EXPECT_EQ(schedule_.waiting(), 1u);
  finish(mail, SendVerdict::sent);
  EXPECT_EQ(schedule_.waiting(), 0u);
  EXPECT_EQ(schedule_.tally(), (NotificationTally{{{ChannelKind::email, State::sent}, 2},
                                                  {{ChannelKind::slack, State::sent}, 1}}));
  EXPECT_EQ(schedule_.take_settled().size(), 3u);
  EXPECT_TRUE(schedule_.take_settled().empty());
}

TEST_F(ScheduleTest, WhileTheMailServerCannotBeUsedOtherChannelsAre) {
  raise(mail);
  EXPECT_EQ(next(), mail);
  finish(mail, SendVerdict::unreachable);
  raise(other_mail);
  raise(chat);
  EXPECT_EQ(next(), chat);
  finish(chat, SendVerdict::sent);
  EXPECT_EQ(next(), ChannelId{});
  EXPECT_EQ(schedule_.wake_at(), noon + mail_pause);
  now_ += mail_pause;
  EXPECT_EQ(next(), mail);
}

TEST_F(ScheduleTest, OneMailThatIsSentShowsThatTheServerWorks) {
  raise(mail);
  for (int failures = 0; failures < 6; ++failures) {
    EXPECT_EQ(next(), mail);
    finish(mail, SendVerdict::unreachable);
    now_ = *schedule_.wake_at();
  }
  now_ -= 1min;
  raise(other_mail);
  EXPECT_EQ(next(), other_mail);
  finish(other_mail, SendVerdict::sent);
  EXPECT_EQ(next(), mail);
}

TEST_F(ScheduleTest, ATestDoesNotWaitForTheMailServer) {
  raise(mail);
  EXPECT_EQ(next(), mail);
  finish(mail, SendVerdict::unreachable);
  Notification test;
  test.id = NotificationId{{9, 9}};
  test.channel_id = other_mail;
  test.kind = NotificationKind::test();
  test.transition = NotificationTransition::test;
  schedule_.add(test, now_);
  EXPECT_EQ(schedule_.wake_at(), now_);
  EXPECT_EQ(next(), other_mail);
}

TEST_F(ScheduleTest, KnowsWhichChannelsFail) {
  raise(mail);
  EXPECT_EQ(next(), mail);
  finish(mail, SendVerdict::refused);
  EXPECT_EQ(schedule_.failing(), std::set<ChannelId>{mail});
  EXPECT_EQ(schedule_.last_error(mail), "It failed.");
  raise(mail);
  EXPECT_EQ(next(), mail);
  finish(mail, SendVerdict::sent);
  EXPECT_TRUE(schedule_.failing().empty());
}

TEST_F(ScheduleTest, ForgetsAChannelThatIsGone) {
  raise(mail);
  raise(chat);
  EXPECT_EQ(next(), mail);
  schedule_.change(directory({}));
  EXPECT_EQ(schedule_.waiting(), 1u);
  EXPECT_EQ(next(), ChannelId{});
  finish(mail, SendVerdict::unreachable);
  EXPECT_EQ(schedule_.waiting(), 0u);
  EXPECT_EQ(schedule_.wake_at(), std::nullopt);
  raise(chat);
  EXPECT_EQ(schedule_.waiting(), 0u);
}

TEST_F(ScheduleTest, WhatAChannelThatIsOffOwesIsHeldBack) {
  const NotificationId first = raise(mail);
  mail_.active = false;
  schedule_.change(directory({mail_}));
  const NotificationId second = raise(mail);
  const NotificationOutcomes settled = schedule_.take_settled();
  ASSERT_EQ(settled.size(), 2u);
  EXPECT_EQ(settled[0].id, first);
  EXPECT_EQ(settled[1].id, second);
  EXPECT_EQ(settled[1].state, State::held_back);
  EXPECT_EQ(schedule_.waiting(), 0u);
}

TEST_F(ScheduleTest, AChangedWindowHoldsForWhatComes) {
  mail_.group_window = 1min;
  schedule_.change(directory({mail_}));
  raise(mail);
  EXPECT_EQ(next(), ChannelId{});
  EXPECT_EQ(schedule_.wake_at(), noon + 1min);
}

TEST_F(ScheduleTest, CountsWhatIsLeftAfterItWasHandedOver) {
  raise(mail);
  raise(mail, AlertKind::dns_failing);
  raise(chat);
  EXPECT_EQ(next(), mail);
  schedule_.hand_over();
  EXPECT_EQ(schedule_.waiting(), 1u);
  EXPECT_EQ(next(), ChannelId{});
  finish(mail, SendVerdict::sent);
  EXPECT_EQ(schedule_.waiting(), 0u);
}

TEST_F(ScheduleTest, RemembersWhatWasBeforeTheStart) {
  schedule_.remember_told(mail, AlertId{{7}});
  schedule_.remember_sent(mail, noon - 1min);
  Notification resolved;
  resolved.id = NotificationId{{1, 1}};
  resolved.channel_id = mail;
  resolved.kind = NotificationKind::of(AlertKind::circuit_opened);
  resolved.transition = NotificationTransition::resolved;
  resolved.alert_id = AlertId{{7}};
  schedule_.restore(resolved, now_);
  EXPECT_EQ(next(), mail);
}

}  // namespace
}  // namespace postrider
