#include "engine/notify/channel_queue.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;
using Transition = NotificationTransition;
using State = NotificationState;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
constexpr AlertKind opened = AlertKind::circuit_opened;

class ChannelQueueTest : public testing::Test {
 protected:
  ChannelQueueTest() {
    channel_.id = ChannelId{{1}};
    channel_.kind = ChannelKind::email;
    channel_.email.to = {"ops@example.com"};
    channel_.group_window = 1min;
    channel_.per_hour_max = 30;
    apply();
  }

  void apply() { queue_.change(std::make_shared<const NotificationChannel>(channel_)); }

  static AlertId alert(int number) { return AlertId{{static_cast<std::uint8_t>(number)}}; }

  /// Alert `number` is about webhook `number % 100`.
  Notification make(int number, Transition transition, AlertKind kind = opened) {
    Notification made;
    made.id = NotificationId{{0, ++ids_}};
    made.channel_id = channel_.id;
    made.kind = NotificationKind::of(kind);
    made.transition = transition;
    made.alert_id = alert(number);
    made.facts.tenant_id = "acme";
    made.facts.webhook_id = WebhookId{{static_cast<std::uint8_t>(number % 100)}};
    made.made_at = now_;
    return made;
  }
  NotificationId raise(int number, AlertKind kind = opened) {
    return add(make(number, Transition::raised, kind));
  }
  NotificationId resolve(int number, AlertKind kind = opened) {
    return add(make(number, Transition::resolved, kind));
  }
  NotificationId add(Notification notification) {
    const NotificationId id = notification.id;
    queue_.add(std::move(notification), now_, settled_);
    return id;
  }

  std::optional<OutgoingMessage> take() { return queue_.take(now_, settled_); }
  /// Moves to the time at which something is due, and takes it.
  std::optional<OutgoingMessage> wait() {
    if (const std::optional<WallTime> due = queue_.due()) {
      now_ = std::max(now_, *due);
    }
    return take();
  }
  void finish(SendVerdict verdict = SendVerdict::sent, std::set<std::string> done = {}) {
    queue_.finish({.verdict = verdict,
                   .reason = verdict == SendVerdict::sent ? "" : "It failed.",
                   .at = now_,
                   .message_id = MessageId{{5}},
                   .event_id = std::nullopt,
                   .done = std::move(done)},
                  now_, settled_);
  }
  /// Sends the next message and returns the number of its notifications; 0: there is none.
  std::size_t send() {
    const std::optional<OutgoingMessage> message = wait();
    if (!message) {
      return 0;
    }
    finish();
    return message->notifications.size();
  }

  /// The last state that was recorded.
  State state(NotificationId id) const {
    State last = State::waiting;
    for (const NotificationOutcome& outcome : settled_) {
      last = outcome.id == id ? outcome.state : last;
    }
    return last;
  }

  std::uint8_t ids_ = 0;
  NotificationChannel channel_;
  ChannelQueue queue_{nullptr};
  NotificationOutcomes settled_;
  WallTime now_ = noon;
};

// ---------------------------------------------------------------- grouping

TEST_F(ChannelQueueTest, OneMessagePerKindAndWindow) {
  const NotificationId first = raise(1);
  now_ += 59s;
  const NotificationId second = raise(2);
  raise(3, AlertKind::dns_failing);
  EXPECT_FALSE(take());
  EXPECT_EQ(queue_.due(), noon + 1min);
  const std::optional<OutgoingMessage> message = wait();
  ASSERT_TRUE(message);
  EXPECT_EQ(now_, noon + 1min);
  ASSERT_EQ(message->notifications.size(), 2u);
  EXPECT_EQ(message->notifications[0].id, first);
  EXPECT_EQ(message->notifications[1].id, second);
  EXPECT_FALSE(take());  // One at a time.
  EXPECT_EQ(queue_.due(), std::nullopt);
  finish();
  EXPECT_EQ(settled_, (NotificationOutcomes{{.id = first,
                                             .state = State::sent,
                                             .attempts = 1,
                                             .sent_at = now_,
                                             .message_id = MessageId{{5}}},
                                            {.id = second,
                                             .state = State::sent,
                                             .attempts = 1,
                                             .sent_at = now_,
                                             .message_id = MessageId{{5}}}}));
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(now_, noon + 119s);
  EXPECT_EQ(queue_.waiting(), 0u);
}

TEST_F(ChannelQueueTest, WithoutAWindowEachIsSentAtOnce) {
  channel_.group_window = 0ms;
  apply();
  raise(1);
  EXPECT_TRUE(take());
}

TEST_F(ChannelQueueTest, AMessageHasOneSetOfRecipients) {
  channel_.email.to_owner = true;
  apply();
  for (const char* owner : {"ann@example.com", "bob@example.com", "ann@example.com"}) {
    Notification made = make(ids_, Transition::raised);
    made.facts.owner_email = owner;
    add(std::move(made));
  }
  EXPECT_EQ(send(), 2u);
  EXPECT_EQ(send(), 1u);
}

TEST_F(ChannelQueueTest, ContactsOfOneTenantDoNotHearAboutAnother) {
  channel_.email.to_contacts = true;
  apply();
  for (const char* tenant : {"acme", "other"}) {
    Notification made = make(ids_, Transition::raised);
    made.facts.tenant_id = tenant;
    add(std::move(made));
  }
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(send(), 1u);
}

TEST_F(ChannelQueueTest, ATestIsSentAtOnceAndAlone) {
  raise(1);
  channel_.per_hour_max = 1;
  apply();
  const NotificationId test = add(make(0, Transition::test));
  const std::optional<OutgoingMessage> message = take();
  ASSERT_TRUE(message);
  ASSERT_EQ(message->notifications.size(), 1u);
  EXPECT_EQ(message->notifications[0].id, test);
  finish();
  EXPECT_EQ(state(test), State::sent);
  EXPECT_EQ(send(), 1u);  // The test does not count.
}

TEST_F(ChannelQueueTest, ATestThatFailsIsNotRepeated) {
  const NotificationId test = add(make(0, Transition::test));
  ASSERT_TRUE(take());
  finish(SendVerdict::unreachable);
  EXPECT_EQ(state(test), State::failed);
  EXPECT_EQ(queue_.waiting(), 0u);
  EXPECT_FALSE(queue_.is_failing());
}

// ---------------------------------------------------------------- resolved and flapping

TEST_F(ChannelQueueTest, AResolutionIsToldIfItsAlertWas) {
  raise(1);
  EXPECT_EQ(send(), 1u);
  now_ += 10min;
  const NotificationId resolved = resolve(1);
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(state(resolved), State::sent);
  EXPECT_EQ(state(resolve(1)), State::held_back);
}

TEST_F(ChannelQueueTest, AResolutionOfAnAlertThatWasNotToldIsHeldBack) {
  EXPECT_EQ(state(resolve(1)), State::held_back);
  EXPECT_EQ(queue_.waiting(), 0u);
}

TEST_F(ChannelQueueTest, TheRestartDoesNotForgetWhatWasTold) {
  queue_.remember_told(alert(1));
  resolve(1);
  EXPECT_EQ(send(), 1u);
}

TEST_F(ChannelQueueTest, RaisedAndResolvedWithinTheWindowCancelOut) {
  const NotificationId raised = raise(1);
  now_ += 59s;
  const NotificationId resolved = resolve(1);
  EXPECT_EQ(state(raised), State::held_back);
  EXPECT_EQ(state(resolved), State::held_back);
  EXPECT_EQ(queue_.due(), std::nullopt);
}

TEST_F(ChannelQueueTest, ResolvedAndRaisedAgainWithinTheWindowCancelOut) {
  raise(1);
  EXPECT_EQ(send(), 1u);
  now_ += 10min;
  const NotificationId resolved = resolve(1);
  now_ += 10s;
  const NotificationId again = raise(101);  // Another alert about the same webhook.
  EXPECT_EQ(state(resolved), State::held_back);
  EXPECT_EQ(state(again), State::held_back);
  EXPECT_EQ(queue_.due(), std::nullopt);
  now_ += 10min;
  resolve(101);
  EXPECT_EQ(send(), 1u);
}

TEST_F(ChannelQueueTest, ASubjectThatKeepsChangingIsToldAtDoublingIntervals) {
  raise(1);
  EXPECT_EQ(send(), 1u);
  const WallTime first = now_;
  now_ += 5s;
  resolve(1);
  EXPECT_EQ(send(), 1u);  // 65 s after the first was told.
  now_ += 1s;
  raise(101);
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(now_, first + 126s);
  const WallTime second = now_;
  now_ += 1s;
  resolve(101);
  EXPECT_EQ(send(), 1u);
  raise(201);
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(now_, second + 2min + 1s);  // The pause has become two minutes.
  const WallTime third = now_;
  now_ += 1s;
  resolve(201);
  EXPECT_EQ(send(), 1u);
  raise(101);
  EXPECT_EQ(queue_.due(), third + 4min);
  now_ = third + 4min - 1s;
  EXPECT_EQ(state(resolve(101)), State::held_back);  // It was not told meanwhile.
  EXPECT_EQ(queue_.waiting(), 0u);
}

TEST_F(ChannelQueueTest, AResolutionWaitsForItsAlert) {
  raise(1);
  ASSERT_TRUE(wait());
  resolve(1);
  finish(SendVerdict::postponed);
  now_ += 1min;
  const std::optional<OutgoingMessage> again = take();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->notifications[0].transition, Transition::raised);
  finish();
  const std::optional<OutgoingMessage> resolved = wait();
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->notifications[0].transition, Transition::resolved);
}

TEST_F(ChannelQueueTest, AnAlertThatCouldNotBeToldInTimeIsToldWithItsResolution) {
  raise(1);
  now_ += 30min;  // The mail server could not be used.
  resolve(1);
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(send(), 1u);
}

TEST_F(ChannelQueueTest, AResolutionOfAnAlertThatFailedIsHeldBack) {
  raise(1);
  ASSERT_TRUE(wait());
  const NotificationId resolved = resolve(1);
  finish(SendVerdict::refused);
  EXPECT_FALSE(wait());
  EXPECT_EQ(state(resolved), State::held_back);
}

// ---------------------------------------------------------------- limit per hour

TEST_F(ChannelQueueTest, BeyondTheLimitASummaryFollows) {
  channel_.per_hour_max = 2;
  apply();
  raise(1, AlertKind::dns_failing);
  std::optional<OutgoingMessage> message = wait();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->summary_at, std::nullopt);
  finish();
  const WallTime first = now_;
  raise(2);
  message = wait();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->summary_at, first + 1h);  // The readers are told that others are held back.
  finish();
  const NotificationId third = raise(3, AlertKind::webhook_failing);
  EXPECT_FALSE(wait());
  const NotificationId fourth = raise(4, AlertKind::dead_letters);
  EXPECT_FALSE(wait());
  EXPECT_EQ(queue_.waiting(), 2u);
  EXPECT_EQ(state(third), State::waiting);
  message = wait();
  EXPECT_EQ(now_, first + 1h);
  ASSERT_TRUE(message);
  EXPECT_TRUE(message->is_summary);
  EXPECT_EQ(message->notifications.size(), 2u);
  finish();
  EXPECT_EQ(state(third), State::held_back);
  EXPECT_EQ(state(fourth), State::held_back);
  EXPECT_EQ(settled_.back().message_id, MessageId{{5}});
  EXPECT_EQ(state(resolve(4, AlertKind::dead_letters)), State::held_back);
}

TEST_F(ChannelQueueTest, ASummaryHasOneSetOfRecipients) {
  channel_.per_hour_max = 1;
  channel_.email.to_owner = true;
  apply();
  raise(1);
  EXPECT_EQ(send(), 1u);
  for (const char* owner : {"ann@example.com", "bob@example.com", "ann@example.com"}) {
    Notification made = make(ids_, Transition::raised);
    made.facts.owner_email = owner;
    add(std::move(made));
  }
  EXPECT_FALSE(wait());
  EXPECT_EQ(send(), 2u);
  EXPECT_EQ(send(), 1u);
}

TEST_F(ChannelQueueTest, ASummaryThatFailsIsTriedAgain) {
  channel_.per_hour_max = 1;
  apply();
  raise(1);
  EXPECT_EQ(send(), 1u);
  const WallTime first = now_;
  raise(2);
  EXPECT_FALSE(wait());
  ASSERT_TRUE(wait());
  EXPECT_EQ(now_, first + 1h);
  finish(SendVerdict::postponed);
  EXPECT_EQ(queue_.due(), first + 61min);
  const std::optional<OutgoingMessage> again = wait();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->is_summary);
}

TEST_F(ChannelQueueTest, TheRestartDoesNotForgetHowManyWereSent) {
  channel_.per_hour_max = 1;
  apply();
  queue_.remember_sent(noon - 30min);
  raise(1);
  EXPECT_FALSE(wait());
  ASSERT_TRUE(wait());
  EXPECT_EQ(now_, noon + 30min);
}

TEST_F(ChannelQueueTest, ALimitOfZeroIsOne) {
  channel_.per_hour_max = 0;
  apply();
  raise(1);
  EXPECT_EQ(send(), 1u);
}

// ---------------------------------------------------------------- failures

TEST_F(ChannelQueueTest, PausesDoubleUpToAnHourForADay) {
  const NotificationId id = raise(1);
  std::vector<Millis> pauses;
  WallTime last = noon;
  while (state(id) == State::waiting) {
    ASSERT_TRUE(wait());
    pauses.push_back(now_ - last);
    last = now_;
    finish(SendVerdict::postponed);
    ASSERT_LT(pauses.size(), 100u);
  }
  EXPECT_EQ(state(id), State::failed);
  EXPECT_TRUE(queue_.is_failing());
  EXPECT_EQ(queue_.last_error(), "It failed.");
  const std::vector<Millis> first(pauses.begin(), pauses.begin() + 9);
  EXPECT_EQ(first, (std::vector<Millis>{1min, 1min, 2min, 4min, 8min, 16min, 32min, 60min, 60min}));
  EXPECT_GE(now_ - noon, 24h);
  EXPECT_LT(now_ - noon, 25h);
  EXPECT_EQ(queue_.waiting(), 0u);
}

TEST_F(ChannelQueueTest, EachFailureIsRecorded) {
  const NotificationId id = raise(1);
  ASSERT_TRUE(wait());
  finish(SendVerdict::postponed);
  EXPECT_EQ(settled_, (NotificationOutcomes{{.id = id,
                                             .state = State::waiting,
                                             .attempts = 1,
                                             .last_error = "It failed.",
                                             .sent_at = std::nullopt,
                                             .next_attempt_at = now_ + 1min}}));
}

TEST_F(ChannelQueueTest, AFinalRefusalIsNotRepeated) {
  const NotificationId id = raise(1);
  ASSERT_TRUE(wait());
  finish(SendVerdict::refused);
  EXPECT_EQ(state(id), State::failed);
  EXPECT_TRUE(queue_.is_failing());
  EXPECT_EQ(queue_.due(), std::nullopt);
  raise(2);
  EXPECT_EQ(send(), 1u);
  EXPECT_FALSE(queue_.is_failing());
}

TEST_F(ChannelQueueTest, ThreeFailuresInARowAreAlarming) {
  raise(1);
  for (int failures = 1; failures <= 3; ++failures) {
    EXPECT_FALSE(queue_.is_failing());
    ASSERT_TRUE(wait());
    finish(SendVerdict::postponed);
  }
  EXPECT_TRUE(queue_.is_failing());
  EXPECT_EQ(send(), 1u);
  EXPECT_FALSE(queue_.is_failing());
}

TEST_F(ChannelQueueTest, NewsJoinsAMessageThatFailed) {
  raise(1);
  for (int failures = 0; failures < 8; ++failures) {
    ASSERT_TRUE(wait());
    finish(SendVerdict::postponed);
  }
  now_ += 1s;
  raise(2);
  EXPECT_EQ(queue_.due(), now_ + 1min);  // Not in an hour.
  EXPECT_EQ(send(), 2u);
}

TEST_F(ChannelQueueTest, WhatSomeRecipientsHaveIsSentToTheOthersUnchanged) {
  raise(1);
  ASSERT_TRUE(wait());
  finish(SendVerdict::postponed, {"ops@example.com"});
  raise(2);
  now_ += 1min;
  const std::optional<OutgoingMessage> again = take();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->notifications.size(), 1u);
  EXPECT_EQ(again->done, (std::set<std::string>{"ops@example.com"}));
  finish();
  EXPECT_EQ(send(), 1u);
}

TEST_F(ChannelQueueTest, AServerThatWorksAgainIsUsedAtOnce) {
  raise(1);
  for (int failures = 0; failures < 5; ++failures) {
    ASSERT_TRUE(wait());
    finish(SendVerdict::unreachable);
  }
  now_ += 1s;
  queue_.retry_unreachable(now_);
  EXPECT_TRUE(take());
}

TEST_F(ChannelQueueTest, ARestartKeepsTheTimeOfTheNextAttempt) {
  Notification before = make(1, Transition::raised);
  before.made_at = noon - 1h;
  before.attempts = 3;
  before.next_attempt_at = noon + 2min;
  queue_.restore(before, noon, settled_);
  EXPECT_EQ(queue_.due(), noon + 2min);
}

TEST_F(ChannelQueueTest, AfterARestartNobodyWaitsForTheWindowAgain) {
  Notification before = make(1, Transition::raised);
  before.made_at = noon - 50s;
  queue_.restore(before, noon, settled_);
  EXPECT_EQ(queue_.due(), noon + 10s);
  Notification future = make(2, Transition::raised, AlertKind::dns_failing);
  future.made_at = noon + 24h;  // The clock was set back.
  queue_.restore(future, noon, settled_);
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(now_, noon + 1min);
}

// ---------------------------------------------------------------- another server continues

TEST_F(ChannelQueueTest, SendsNothingThatWasHandedOverButATest) {
  raise(1);
  const NotificationId test = add(make(2, Transition::test));
  queue_.hand_over();
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(state(test), State::sent);
  EXPECT_FALSE(wait());
  EXPECT_EQ(settled_.size(), 1u);
  EXPECT_EQ(queue_.waiting(), 0u);
}

TEST_F(ChannelQueueTest, KnowsOnlyWhatItIsToldAfterAnotherServer) {
  raise(1);
  EXPECT_EQ(send(), 1u);
  raise(2);
  EXPECT_EQ(send(), 1u);
  queue_.hand_over();
  queue_.remember_told(alert(2));
  const NotificationId unknown = resolve(1);
  const NotificationId known = resolve(2);
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(state(unknown), State::held_back);
  EXPECT_EQ(state(known), State::sent);
}

TEST_F(ChannelQueueTest, AMessageThatIsBeingSentIsTriedAgainByTheOtherServer) {
  raise(1);
  ASSERT_TRUE(wait());
  queue_.hand_over();
  finish(SendVerdict::postponed);
  EXPECT_TRUE(settled_.empty());
  EXPECT_EQ(queue_.waiting(), 0u);
  EXPECT_FALSE(wait());
}

TEST_F(ChannelQueueTest, AMessageThatIsBeingSentIsNotSentTwiceAfterItIsRestored) {
  const Notification raised = make(1, Transition::raised);
  add(raised);
  ASSERT_TRUE(wait());
  queue_.hand_over();
  queue_.restore(raised, now_, settled_);
  EXPECT_EQ(queue_.waiting(), 1u);
  finish(SendVerdict::postponed);
  EXPECT_EQ(queue_.waiting(), 1u);
  EXPECT_EQ(send(), 1u);
  EXPECT_EQ(state(raised.id), State::sent);
  EXPECT_FALSE(wait());
}

TEST_F(ChannelQueueTest, MemoryIsBounded) {
  for (std::size_t i = 0; i < waiting_per_channel_max; ++i) {
    raise(1);
  }
  const std::size_t before = settled_.size();
  queue_.add(make(2, Transition::raised), now_, settled_);
  EXPECT_EQ(settled_.size(), before + 1);
  EXPECT_EQ(settled_.back().state, State::held_back);
  const std::optional<OutgoingMessage> message = wait();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->surplus, 1u);
  finish();
  raise(3);
  EXPECT_EQ(wait()->surplus, 0u);
}

TEST_F(ChannelQueueTest, IsIdleWhenThereIsNothingToRemember) {
  EXPECT_TRUE(queue_.is_idle(now_));
  raise(1);
  EXPECT_FALSE(queue_.is_idle(now_));
  EXPECT_EQ(send(), 1u);
  EXPECT_FALSE(queue_.is_idle(now_ + 24h));
  resolve(1);
  EXPECT_EQ(send(), 1u);
  EXPECT_TRUE(queue_.is_idle(now_ + 24h));
}

}  // namespace
}  // namespace postrider
