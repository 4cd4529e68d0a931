#include "runtime/cluster/shared_notifications.h"

#include <array>
#include <atomic>
#include <future>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scripted_mailer.h"
#include "tests/support/store_harness.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Transition = NotificationTransition;

NotificationId id(std::uint8_t number) { return NotificationId{{number}}; }

class IgnoredAlerts final : public AlertSink {
 public:
  void on_alert_change(const AlertChange&) override {}
};

class FailingReader final : public NotificationReader {
 public:
  FailingReader(std::unique_ptr<NotificationReader> real, std::atomic<bool>& fails)
      : real_(std::move(real)), fails_(fails) {}

  Result<Listed<Notification>> list_notifications(const NotificationFilter& filter,
                                                  const Page& page) override {
    if (fails_) {
      return fail(Errc::unavailable, "The reader is made to fail.");
    }
    return real_->list_notifications(filter, page);
  }
  Result<Notification> find_notification(NotificationId id) override {
    return real_->find_notification(id);
  }
  Result<NotificationCounts> count_notifications(ChannelId id) override {
    return real_->count_notifications(id);
  }

 private:
  std::unique_ptr<NotificationReader> real_;
  std::atomic<bool>& fails_;
};

class CountingWriter final : public NotificationWriter {
 public:
  CountingWriter(std::unique_ptr<NotificationWriter> real, std::size_t& reads)
      : real_(std::move(real)), reads_(reads) {}

  Result<std::vector<NotificationChannel>> load_channels() override {
    return real_->load_channels();
  }
  Result<void> put_channel(const NotificationChannel& channel) override {
    return real_->put_channel(channel);
  }
  Result<void> remove_channel(ChannelId id) override { return real_->remove_channel(id); }
  Result<void> add(std::span<const Notification> notifications) override {
    return real_->add(notifications);
  }
  Result<void> settle(std::span<const NotificationOutcome> outcomes) override {
    return real_->settle(outcomes);
  }
  Result<std::vector<Notification>> load_waiting(std::optional<NotificationId> after,
                                                 std::uint32_t limit) override {
    ++reads_;
    return real_->load_waiting(after, limit);
  }
  Result<std::uint32_t> remove_old(WallTime before, std::uint32_t limit) override {
    return real_->remove_old(before, limit);
  }

 private:
  std::unique_ptr<NotificationWriter> real_;
  std::size_t& reads_;
};

class SharedNotificationsTest : public testing::Test {
 protected:
  SharedNotificationsTest() {
    NotificationChannel channel;
    channel.id = ChannelId{{1}};
    channel.email.to = {"ops@example.com"};
    channel.group_window = 0ms;
    memory_.channels[channel.id] = channel;
    channels_ = std::make_shared<const ChannelDirectory>(std::vector{channel});
    Reader reader = make_memory_reader(memory_);
    reader.notifications =
        std::make_unique<FailingReader>(std::move(reader.notifications), reader_fails_);
    std::vector<Reader> readers;
    readers.push_back(std::move(reader));
    readers_.emplace(std::move(readers), harness_.clock);
    notifier_.emplace(
        NotificationOptions{},
        Notifier::Parts{.clock = &harness_.clock,
                        .mailer = std::make_unique<test::ScriptedMailer>(mails_),
                        .channels = [this] { return channels_; },
                        .settle =
                            [this](const NotificationOutcomes& outcomes) {
                              for (const NotificationOutcome& outcome : outcomes) {
                                settled_.push_back(outcome.id);
                              }
                            },
                        .alerts = &alerts_},
        MessageSender::Parts{.clock = &harness_.clock,
                             .mailer = nullptr,
                             .new_uuid = [this] { return ids_.next(harness_.clock.now().wall); },
                             .webhooks = [] { return std::make_shared<const Directory>(); },
                             .access = [] { return std::make_shared<const AccessSnapshot>(); },
                             .publish = [](const Event&, WebhookId) { return Result<void>{}; }});
    shared_.emplace(SharedNotifications::Parts{
        .clock = &harness_.clock,
        .store = &*harness_.thread,
        .readers = &*readers_,
        .notifier = &*notifier_,
        .unwritten = &unwritten_,
        .take_over = [this](const Alert& alert) { taken_over_.push_back(alert.id); }});
    harness_.start();
  }
  ~SharedNotificationsTest() override {
    readers_->stop();
    harness_.stop();
  }

  static Notification make(std::uint8_t number, std::uint8_t alert,
                           Transition transition = Transition::raised) {
    Notification made;
    made.id = id(number);
    made.channel_id = ChannelId{{1}};
    made.alert_id = AlertId{{alert}};
    made.transition = transition;
    made.facts.webhook_id = WebhookId{{alert}};
    return made;
  }
  /// As another server does it.
  void store(const Notification& notification) {
    ASSERT_TRUE(make_memory_notification_writer(memory_)->add(std::array{notification}));
  }
  void raise(std::uint8_t number, AlertKind kind = AlertKind::circuit_opened) {
    Alert alert;
    alert.id = AlertId{{number}};
    alert.subject.kind = kind;
    ASSERT_TRUE(make_memory_store(memory_).alerts->raise(alert));
  }
  void start_leading() {
    harness_.on_store([this](Store&, RepliesByShard&) {
      shared_->start_leading();
      return Result<void>{};
    });
  }
  void stop_leading() {
    harness_.on_store([this](Store&, RepliesByShard&) {
      shared_->stop_leading();
      return Result<void>{};
    });
  }
  /// Waits until everything is read and sent.
  void look() {
    harness_.on_store([this](Store& store, RepliesByShard&) { return shared_->look(store); });
    std::promise<void> read;
    readers_->submit([&read](Reader&) { read.set_value(); });
    read.get_future().wait();
    harness_.on_store([](Store&, RepliesByShard&) { return Result<void>{}; });
    notifier_->work();
  }

  MemoryStore memory_;
  std::size_t reads_ = 0;  // Of all that waits. Store thread only.
  test::StoreHarness harness_{memory_, [this](Store& store) {
                                store.notifications = std::make_unique<CountingWriter>(
                                    std::move(store.notifications), reads_);
                              }};
  UuidGenerator ids_{1};
  std::atomic<bool> reader_fails_{false};
  std::optional<ReaderPool> readers_;
  std::shared_ptr<const ChannelDirectory> channels_;
  IgnoredAlerts alerts_;
  test::ScriptedMailer::Script mails_;
  std::vector<NotificationId> settled_;
  std::vector<AlertId> taken_over_;
  std::optional<Notifier> notifier_;
  UnwrittenAlerts unwritten_;
  std::optional<SharedNotifications> shared_;
};

TEST_F(SharedNotificationsTest, OnlyTheLeaderSends) {
  store(make(1, 1));
  look();
  shared_->submit({make(2, 2)});
  notifier_->work();
  EXPECT_TRUE(mails_.accepted.empty());
  start_leading();
  look();
  EXPECT_THAT(settled_, ElementsAre(id(1)));
}

TEST_F(SharedNotificationsTest, KnowsWhatTheLastLeaderHasTold) {
  raise(1);
  Notification told = make(1, 1);
  told.state = NotificationState::sent;
  told.sent_at = harness_.clock.now().wall;
  store(told);
  start_leading();
  look();
  store(make(2, 1, Transition::resolved));
  harness_.clock.advance(1s);
  look();
  EXPECT_THAT(settled_, ElementsAre(id(2)));
  EXPECT_EQ(mails_.accepted.size(), 1u);
}

TEST_F(SharedNotificationsTest, ContinuesWithTheAlertAboutNotifications) {
  raise(1);
  raise(2, AlertKind::notifications_failing);
  start_leading();
  look();
  EXPECT_THAT(taken_over_, ElementsAre(AlertId{{2}}));
}

TEST_F(SharedNotificationsTest, WhatWaitedIsSentOnceByAServerThatLeadsAgain) {
  start_leading();
  look();
  const Notification made = make(1, 1);
  shared_->submit({made});
  store(made);
  stop_leading();
  start_leading();
  look();
  harness_.clock.advance(1s);
  look();
  EXPECT_THAT(settled_, ElementsAre(id(1)));
  EXPECT_EQ(mails_.accepted.size(), 1u);
}

/// The outcome could not be stored before another server might have led.
TEST_F(SharedNotificationsTest, WhatWasSentDoesNotWaitAlthoughTheStoreSaysSo) {
  store(make(1, 1));
  unwritten_.settle({{.id = id(1), .state = NotificationState::sent}});
  start_leading();
  look();
  EXPECT_THAT(settled_, IsEmpty());
}

TEST_F(SharedNotificationsTest, WhatIsMadeWhileTheStoreIsReadIsFoundThere) {
  start_leading();
  harness_.on_store([this](Store& store, RepliesByShard&) -> Result<void> {
    POSTRIDER_CHECK(shared_->look(store));
    const Notification made = make(1, 1);
    shared_->submit({made});
    return store.notifications->add(std::array{made});
  });
  look();
  harness_.clock.advance(1s);
  look();
  EXPECT_THAT(settled_, ElementsAre(id(1)));
}

TEST_F(SharedNotificationsTest, WhatIsReadForAFormerLeaderIsDropped) {
  store(make(1, 1));
  start_leading();
  harness_.on_store([this](Store& store, RepliesByShard&) -> Result<void> {
    POSTRIDER_CHECK(shared_->look(store));
    shared_->stop_leading();
    return {};
  });
  look();
  EXPECT_THAT(settled_, IsEmpty());
}

TEST_F(SharedNotificationsTest, ReadsOncePerSecondHoweverOftenItIsCalled) {
  start_leading();
  look();
  EXPECT_EQ(reads_, 1u);
  for (int i = 0; i < 10; ++i) {
    look();
  }
  EXPECT_EQ(reads_, 2u);
  harness_.clock.advance(1s);
  look();
  EXPECT_EQ(reads_, 3u);
}

TEST_F(SharedNotificationsTest, TriesAgainIfTheStoreCannotBeRead) {
  raise(1);
  store(make(1, 1));
  reader_fails_ = true;
  start_leading();
  look();
  EXPECT_THAT(settled_, IsEmpty());
  reader_fails_ = false;
  harness_.clock.advance(1s);
  look();
  EXPECT_THAT(settled_, ElementsAre(id(1)));
}

}  // namespace
}  // namespace postrider
