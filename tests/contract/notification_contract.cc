// Notification channels, and what they owe.
#include <array>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

NotificationChannel email_channel(std::uint8_t number) {
  return {.id = ChannelId{StoreScript::webhook(number).bytes},
          .tenant_id = "acme",
          .name = "On call",
          .kind = ChannelKind::email,
          .email = {.to = {"ops@example.com", "dev@example.com"},
                    .to_owner = true,
                    .to_contacts = true},
          .webhook_id = std::nullopt,
          .kinds = {NotificationKind::of(AlertKind::messages_rejected),
                    NotificationKind::operation_finished()},
          .severity_min = Severity::critical,
          .webhook_ids = {StoreScript::webhook(1), StoreScript::webhook(2)},
          .send_resolved = false,
          .group_window = Millis{1},
          .per_hour_max = 7,
          .active = false,
          .configured = true,
          .created_at = store_epoch,
          .updated_at = store_epoch + Millis{1}};
}

NotificationChannel chat_channel(std::uint8_t number) {
  NotificationChannel channel;
  channel.id = ChannelId{StoreScript::webhook(number).bytes};
  channel.name = "Chat";
  channel.kind = ChannelKind::slack;
  channel.webhook_id = StoreScript::webhook(9);
  channel.created_at = store_epoch;
  channel.updated_at = store_epoch;
  return channel;
}

Notification raised(std::uint8_t number, ChannelId channel_id) {
  return {.id = NotificationId{StoreScript::webhook(number).bytes},
          .channel_id = channel_id,
          .kind = NotificationKind::of(AlertKind::webhook_failing),
          .transition = NotificationTransition::raised,
          .alert_id = AlertId{StoreScript::webhook(number).bytes},
          .facts = {.tenant_id = "acme",
                    .webhook_id = StoreScript::webhook(1),
                    .webhook_name = "Orders",
                    .webhook_url = "https://shop.example/hook",
                    .source = "shop",
                    .operation_id = OperationId{StoreScript::webhook(3).bytes},
                    .detail = "60 % of the attempts failed.",
                    .measure = AlertMeasure{.count = 60.5, .limit = 50, .unit = AlertUnit::percent},
                    .raised_at = store_epoch,
                    .resolved_at = store_epoch + Millis{4},
                    .owner_email = "owner@example.com"},
          .made_at = store_epoch + Millis{number},
          .state = NotificationState::waiting,
          .attempts = 0,
          .last_error = "",
          .next_attempt_at = store_epoch + Millis{60'000}};
}

Notification test_of(std::uint8_t number, ChannelId channel_id) {
  return {.id = NotificationId{StoreScript::webhook(number).bytes},
          .channel_id = channel_id,
          .kind = NotificationKind::test(),
          .transition = NotificationTransition::test,
          .facts = {},
          .made_at = store_epoch + Millis{number}};
}

NotificationOutcome sent(const Notification& notification) {
  return {.id = notification.id,
          .state = NotificationState::sent,
          .attempts = 2,
          .last_error = "greylisted",
          .sent_at = store_epoch + Millis{100},
          .message_id = MessageId{StoreScript::webhook(5).bytes},
          .event_id = EventId{StoreScript::webhook(6).bytes}};
}

}  // namespace

TEST_P(NotificationContract, EmptyStoreHasNone) {
  EXPECT_TRUE(writer().load_channels()->empty());
  EXPECT_TRUE(writer().load_waiting(std::nullopt, 10)->empty());
  EXPECT_TRUE(list({}).items.empty());
  EXPECT_EQ(*reader().count_notifications(chat_channel(1).id), NotificationCounts{});
  EXPECT_EQ(writer().remove_channel(chat_channel(1).id).error().code, Errc::not_found);
}

TEST_P(NotificationContract, ChannelsRoundTripInIdOrder) {
  ASSERT_TRUE(writer().put_channel(email_channel(2)));
  ASSERT_TRUE(writer().put_channel(chat_channel(1)));
  store_->reopen();
  EXPECT_EQ(*writer().load_channels(),
            (std::vector<NotificationChannel>{chat_channel(1), email_channel(2)}));
}

TEST_P(NotificationContract, TheDefaultTenantIsNotTheServer) {
  NotificationChannel channel = chat_channel(1);
  channel.tenant_id = "";
  ASSERT_TRUE(writer().put_channel(channel));
  store_->reopen();
  EXPECT_EQ(writer().load_channels()->front().tenant_id, "");
}

TEST_P(NotificationContract, PuttingReplacesAChannel) {
  ASSERT_TRUE(writer().put_channel(email_channel(1)));
  NotificationChannel changed = email_channel(1);
  changed.name = "Night shift";
  changed.email.to.clear();
  changed.kinds.clear();
  changed.webhook_ids.clear();
  ASSERT_TRUE(writer().put_channel(changed));
  EXPECT_EQ(*writer().load_channels(), std::vector<NotificationChannel>{changed});
}

TEST_P(NotificationContract, NotificationsRoundTripNewestFirst) {
  const ChannelId channel = add_channel(chat_channel(1));
  const std::array made{raised(4, channel), test_of(5, channel)};
  ASSERT_TRUE(writer().add(made));
  store_->reopen();
  EXPECT_EQ(list({}).items, (std::vector<Notification>{made[1], made[0]}));
  EXPECT_EQ(*reader().find_notification(made[0].id), made[0]);
  EXPECT_EQ(reader().find_notification(raised(9, channel).id).error().code, Errc::not_found);
  EXPECT_EQ(*writer().load_waiting(std::nullopt, 10),
            (std::vector<Notification>{made[0], made[1]}));
}

TEST_P(NotificationContract, AnAddedNotificationIsNotChangedByAddingItAgain) {
  const ChannelId channel = add_channel(chat_channel(1));
  const Notification first = raised(4, channel);
  Notification again = first;
  again.facts.detail = "Something else.";
  ASSERT_TRUE(writer().add(std::array{first}));
  ASSERT_TRUE(writer().add(std::array{again, raised(5, channel)}));
  EXPECT_EQ(list({}).items, (std::vector<Notification>{raised(5, channel), first}));
}

TEST_P(NotificationContract, AnOutcomeIsRecorded) {
  const ChannelId channel = add_channel(chat_channel(1));
  ASSERT_TRUE(writer().add(std::array{raised(4, channel), raised(5, channel)}));
  ASSERT_TRUE(writer().settle(std::array{sent(raised(4, channel))}));
  store_->reopen();
  Notification expected = raised(4, channel);
  expected.state = NotificationState::sent;
  expected.attempts = 2;
  expected.last_error = "greylisted";
  expected.sent_at = store_epoch + Millis{100};
  expected.next_attempt_at = std::nullopt;
  expected.message_id = MessageId{StoreScript::webhook(5).bytes};
  expected.event_id = EventId{StoreScript::webhook(6).bytes};
  EXPECT_EQ(list({.states = {NotificationState::sent}}).items,
            (std::vector<Notification>{expected}));
  EXPECT_EQ(*writer().load_waiting(std::nullopt, 10),
            (std::vector<Notification>{raised(5, channel)}));
}

TEST_P(NotificationContract, ARetryKeepsItWaiting) {
  const ChannelId channel = add_channel(chat_channel(1));
  ASSERT_TRUE(writer().add(std::array{raised(4, channel)}));
  ASSERT_TRUE(writer().settle(
      std::array{NotificationOutcome{.id = raised(4, channel).id,
                                     .state = NotificationState::waiting,
                                     .attempts = 1,
                                     .last_error = "The mail server did not answer.",
                                     .next_attempt_at = store_epoch + Millis{9}}}));
  const std::vector<Notification> waiting = *writer().load_waiting(std::nullopt, 10);
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0].attempts, 1u);
  EXPECT_EQ(waiting[0].last_error, "The mail server did not answer.");
  EXPECT_EQ(waiting[0].next_attempt_at, store_epoch + Millis{9});
}

TEST_P(NotificationContract, FinalStatesDoNotChange) {
  const ChannelId channel = add_channel(chat_channel(1));
  for (const NotificationState state :
       {NotificationState::sent, NotificationState::held_back, NotificationState::failed}) {
    const auto number = static_cast<std::uint8_t>(10 + static_cast<int>(state));
    ASSERT_TRUE(writer().add(std::array{raised(number, channel)}));
    ASSERT_TRUE(
        writer().settle(std::array{NotificationOutcome{raised(number, channel).id, state}}));
    ASSERT_TRUE(writer().settle(std::array{NotificationOutcome{.id = raised(number, channel).id}}));
  }
  EXPECT_TRUE(writer().load_waiting(std::nullopt, 10)->empty());
  // An unknown notification is ignored.
  EXPECT_TRUE(writer().settle(std::array{sent(raised(99, channel))}));
  EXPECT_EQ(*reader().count_notifications(channel),
            (NotificationCounts{.waiting = 0, .sent = 1, .held_back = 1, .failed = 1}));
}

TEST_P(NotificationContract, WaitingOnesAreLoadedInParts) {
  const ChannelId channel = add_channel(chat_channel(1));
  ASSERT_TRUE(writer().add(std::array{raised(6, channel), raised(4, channel), raised(5, channel)}));
  EXPECT_EQ(*writer().load_waiting(std::nullopt, 2),
            (std::vector<Notification>{raised(4, channel), raised(5, channel)}));
  EXPECT_EQ(*writer().load_waiting(raised(5, channel).id, 2),
            (std::vector<Notification>{raised(6, channel)}));
}

TEST_P(NotificationContract, FiltersSelect) {
  const ChannelId first = add_channel(chat_channel(1));
  const ChannelId second = add_channel(chat_channel(2));
  ASSERT_TRUE(writer().add(std::array{raised(4, first), raised(5, second), raised(6, first)}));
  ASSERT_TRUE(writer().settle(std::array{sent(raised(6, first))}));
  EXPECT_EQ(list({.channel_id = second}).items, (std::vector<Notification>{raised(5, second)}));
  EXPECT_EQ(list({.channel_id = first, .states = {NotificationState::waiting}}).items,
            (std::vector<Notification>{raised(4, first)}));
  EXPECT_EQ(list({.alert_id = AlertId{StoreScript::webhook(5).bytes}}).items,
            (std::vector<Notification>{raised(5, second)}));
  EXPECT_EQ(list({.states = {NotificationState::sent, NotificationState::waiting}}).items.size(),
            3u);
}

TEST_P(NotificationContract, ListsHavePages) {
  const ChannelId channel = add_channel(chat_channel(1));
  for (std::uint8_t number = 1; number <= 5; ++number) {
    ASSERT_TRUE(writer().add(std::array{raised(number, channel)}));
  }
  Page page{.limit = 2};
  std::vector<NotificationId> seen;
  for (int pages = 0; pages < 3; ++pages) {
    const Listed<Notification> part = list({.channel_id = channel}, page);
    for (const Notification& item : part.items) {
      seen.push_back(item.id);
    }
    EXPECT_EQ(part.next.has_value(), pages < 2);
    page.before = part.next;
  }
  ASSERT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen.front(), raised(5, channel).id);
  EXPECT_EQ(seen.back(), raised(1, channel).id);
}

TEST_P(NotificationContract, OnlySettledOnesAreRemovedByAge) {
  const ChannelId channel = add_channel(chat_channel(1));
  ASSERT_TRUE(writer().add(std::array{raised(1, channel), raised(2, channel), raised(3, channel)}));
  ASSERT_TRUE(writer().settle(std::array{sent(raised(2, channel)), sent(raised(3, channel))}));
  EXPECT_EQ(*writer().remove_old(store_epoch + Millis{3}, 10), 1u);
  EXPECT_EQ(list({}).items.size(), 2u);
  EXPECT_EQ(*writer().remove_old(store_epoch + Millis{4}, 10), 1u);
  EXPECT_EQ(list({}).items, (std::vector<Notification>{raised(1, channel)}));
}

TEST_P(NotificationContract, ARemovedChannelOwesNothing) {
  const ChannelId removed = add_channel(chat_channel(1));
  const ChannelId kept = add_channel(chat_channel(2));
  ASSERT_TRUE(writer().add(
      std::array{raised(1, removed), raised(2, removed), raised(3, removed), raised(4, kept)}));
  ASSERT_TRUE(writer().remove_channel(removed));
  EXPECT_EQ(writer().load_channels()->size(), 1u);
  EXPECT_EQ(writer().remove_channel(removed).error().code, Errc::not_found);
  EXPECT_EQ(*writer().load_waiting(std::nullopt, 10), (std::vector<Notification>{raised(4, kept)}));
  EXPECT_EQ(*writer().remove_old(store_epoch, 2), 2u);
  EXPECT_EQ(*writer().remove_old(store_epoch, 2), 1u);
  EXPECT_EQ(*writer().remove_old(store_epoch, 2), 0u);
  EXPECT_EQ(list({}).items, (std::vector<Notification>{raised(4, kept)}));
}

TEST_P(NotificationContract, NotificationsAreStoredWithTheAlertOrNotAtAll) {
  const ChannelId channel = add_channel(chat_channel(1));
  Alert alert;
  alert.id = AlertId{StoreScript::webhook(4).bytes};
  const auto write = [&]() -> Result<void> {
    POSTRIDER_CHECK(alerts().raise(alert));
    return writer().add(std::array{raised(4, channel)});
  };
  ASSERT_TRUE(store_->store().atomically(write));
  store_->reopen();
  EXPECT_EQ(alerts().load_active()->size(), 1u);
  EXPECT_EQ(writer().load_waiting(std::nullopt, 10)->size(), 1u);
}

}  // namespace postrider::test
