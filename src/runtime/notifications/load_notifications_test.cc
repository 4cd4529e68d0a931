#include "runtime/notifications/load_notifications.h"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using State = NotificationState;
using Transition = NotificationTransition;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
const ChannelId channel{{1}};

class LoadNotifications : public testing::Test {
 protected:
  LoadNotifications() {
    NotificationChannel made;
    made.id = channel;
    EXPECT_TRUE(roles_.notifications->put_channel(made));
  }

  NotificationId add(AlertId alert, Transition transition, State state, WallTime sent_at = noon) {
    Notification made;
    made.id = NotificationId{{0, ++ids_}};
    made.channel_id = channel;
    made.kind = NotificationKind::of(AlertKind::circuit_opened);
    made.alert_id = alert;
    made.transition = transition;
    made.state = state;
    made.made_at = noon - 2h;
    if (state == State::sent) {
      made.sent_at = sent_at;
      made.message_id = message_;
    }
    EXPECT_TRUE(roles_.notifications->add(std::vector{made}));
    return made.id;
  }
  NotificationsBefore load(const std::vector<Alert>& alerts = {}) {
    Result<NotificationsBefore> loaded =
        load_notifications(*roles_.notifications, reader_.notifications.get(), alerts, noon);
    EXPECT_TRUE(loaded);
    return loaded.value_or(NotificationsBefore{});
  }
  static Alert make_alert(AlertId id, AlertKind kind = AlertKind::circuit_opened) {
    Alert alert;
    alert.id = id;
    alert.subject.kind = kind;
    return alert;
  }

  std::uint8_t ids_ = 0;
  MessageId message_{{1}};
  MemoryStore store_;
  Store roles_ = make_memory_store(store_);
  Reader reader_ = make_memory_reader(store_);
};

TEST_F(LoadNotifications, FindsWhatWaits) {
  const NotificationId waiting = add(AlertId{{1}}, Transition::raised, State::waiting);
  add(AlertId{{2}}, Transition::raised, State::failed);
  const NotificationsBefore before = load();
  ASSERT_EQ(before.waiting.size(), 1u);
  EXPECT_EQ(before.waiting[0].id, waiting);
  EXPECT_TRUE(before.told.empty());
}

TEST_F(LoadNotifications, FindsMoreThanOnePage) {
  for (int i = 0; i < 1'100; ++i) {
    Notification made;
    made.id = NotificationId{{1, static_cast<std::uint8_t>(i / 256), static_cast<std::uint8_t>(i)}};
    made.channel_id = channel;
    ASSERT_TRUE(roles_.notifications->add(std::vector{made}));
  }
  EXPECT_EQ(load().waiting.size(), 1'100u);
}

TEST_F(LoadNotifications, KnowsWhichAlertsWereTold) {
  add(AlertId{{1}}, Transition::raised, State::sent);
  add(AlertId{{2}}, Transition::raised, State::sent);
  add(AlertId{{3}}, Transition::raised, State::held_back);
  add(AlertId{{2}}, Transition::resolved, State::waiting);  // No longer active.
  add(AlertId{{4}}, Transition::raised, State::sent);       // Of no interest any more.
  const NotificationsBefore before = load({make_alert(AlertId{{1}}), make_alert(AlertId{{3}})});
  ASSERT_EQ(before.told.size(), 2u);
  EXPECT_EQ(before.told[0].alert_id, AlertId{{1}});
  EXPECT_EQ(before.told[1].alert_id, AlertId{{2}});
  EXPECT_EQ(before.told[1].channel_id, channel);
}

TEST_F(LoadNotifications, CountsTheMessagesOfTheLastHour) {
  add(AlertId{{1}}, Transition::raised, State::sent, noon - 61min);
  message_ = MessageId{{2}};
  add(AlertId{{2}}, Transition::raised, State::sent, noon - 10min);
  add(AlertId{{3}}, Transition::raised, State::sent, noon - 10min);  // The same message.
  message_ = MessageId{{3}};
  add(AlertId{{4}}, Transition::raised, State::sent, noon - 5min);
  const NotificationsBefore before = load();
  ASSERT_EQ(before.sent.size(), 2u);
  EXPECT_EQ(before.sent[0].at, noon - 5min);
  EXPECT_EQ(before.sent[1].at, noon - 10min);
}

TEST_F(LoadNotifications, LossOfDataIsToldByTheNextRun) {
  const std::vector<Alert> alerts{make_alert(AlertId{{1}}, AlertKind::store_data_lost),
                                  make_alert(AlertId{{2}}, AlertKind::store_data_lost),
                                  make_alert(AlertId{{3}})};
  add(AlertId{{2}}, Transition::raised, State::waiting);
  const NotificationsBefore before = load(alerts);
  ASSERT_EQ(before.untold.size(), 1u);
  EXPECT_EQ(before.untold[0].id, AlertId{{1}});
  EXPECT_EQ(before.alerts.size(), 3u);
}

}  // namespace
}  // namespace postrider
