#include "runtime/cluster/stored_notifications.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NotificationId id(std::uint8_t number) { return NotificationId{{number}}; }

class StoredNotificationsTest : public testing::Test {
 protected:
  StoredNotificationsTest() { memory_.channels[ChannelId{{1}}] = {.id = ChannelId{{1}}}; }

  static Notification make(std::uint8_t number,
                           NotificationTransition transition = NotificationTransition::raised) {
    Notification notification;
    notification.id = id(number);
    notification.channel_id = ChannelId{{1}};
    notification.transition = transition;
    return notification;
  }
  void store(const Notification& notification) {
    ASSERT_TRUE(writer_->add(std::array{notification}));
  }
  void settle(std::uint8_t number) {
    ASSERT_TRUE(writer_->settle(
        std::array{NotificationOutcome{.id = id(number), .state = NotificationState::sent}}));
  }
  std::vector<NotificationId> take_new() {
    std::vector<NotificationId> ids;
    const Result<std::vector<Notification>> found = stored_.take_new(*writer_);
    EXPECT_TRUE(found);
    for (const Notification& each : found.value()) {
      ids.push_back(each.id);
    }
    return ids;
  }

  MemoryStore memory_;
  std::unique_ptr<NotificationWriter> writer_ = make_memory_notification_writer(memory_);
  StoredNotifications stored_;
};

TEST_F(StoredNotificationsTest, FindsEachNotificationOnce) {
  store(make(1));
  store(make(2));
  EXPECT_THAT(take_new(), ElementsAre(id(1), id(2)));
  store(make(3));
  EXPECT_THAT(take_new(), ElementsAre(id(3)));
  EXPECT_THAT(take_new(), IsEmpty());
}

TEST_F(StoredNotificationsTest, LeavesOutTestsAndWhatDoesNotWait) {
  store(make(1, NotificationTransition::test));
  store(make(2));
  settle(2);
  EXPECT_THAT(take_new(), IsEmpty());
}

TEST_F(StoredNotificationsTest, OwnOnesAreKnownBeforeAndAfterTheyAreStored) {
  stored_.add_known(std::array{make(1)});
  EXPECT_THAT(take_new(), IsEmpty());  // Not stored yet, and looked for meanwhile.
  EXPECT_THAT(take_new(), IsEmpty());
  store(make(1));
  EXPECT_THAT(take_new(), IsEmpty());
  EXPECT_THAT(take_new(), IsEmpty());
}

TEST_F(StoredNotificationsTest, FindsEverythingAgainAfterAnotherServerHasLed) {
  store(make(1));
  stored_.add_known(std::array{make(2)});
  (void)take_new();
  stored_.forget_all();
  store(make(2));
  EXPECT_THAT(take_new(), ElementsAre(id(1), id(2)));
}

TEST_F(StoredNotificationsTest, ReadsMoreThanAPage) {
  for (int number = 0; number < 1'001; ++number) {
    Notification notification = make(1);
    notification.id.bytes[14] = static_cast<std::uint8_t>(number >> 8);
    notification.id.bytes[15] = static_cast<std::uint8_t>(number);
    store(notification);
  }
  EXPECT_EQ(take_new().size(), 1'001u);
  EXPECT_THAT(take_new(), IsEmpty());
}

}  // namespace
}  // namespace postrider
