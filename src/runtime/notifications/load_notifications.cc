#include "runtime/notifications/load_notifications.h"

#include <set>

#include "engine/notify/message_limit.h"

namespace postrider {
namespace {

constexpr std::uint32_t page_size = 500;
// Of a channel, within the last hour. Of older ones nothing needs to be known.
constexpr std::uint32_t sent_max = 2'000;

Result<void> load_waiting(NotificationWriter& writer, NotificationsBefore& before) {
  std::optional<NotificationId> after;
  do {
    POSTRIDER_TRY(std::vector<Notification> page, writer.load_waiting(after, page_size));
    after = page.size() == page_size ? std::optional{page.back().id} : std::nullopt;
    for (Notification& notification : page) {
      before.waiting.push_back(std::move(notification));
    }
  } while (after && before.waiting.size() < waiting_total_max);
  return {};
}

Result<void> load_told(NotificationReader& reader, NotificationsBefore& before) {
  std::set<AlertId> alerts;
  for (const Alert& alert : before.alerts) {
    alerts.insert(alert.id);
  }
  for (const Notification& notification : before.waiting) {
    if (notification.transition == NotificationTransition::resolved && notification.alert_id) {
      alerts.insert(*notification.alert_id);
    }
  }
  for (const Alert& alert : before.alerts) {
    if (alert.subject.kind == AlertKind::store_data_lost) {
      POSTRIDER_TRY(const Listed<Notification> listed,
                    reader.list_notifications({.alert_id = alert.id}, {.limit = 1}));
      if (listed.items.empty()) {
        before.untold.push_back(alert);
      }
    }
  }
  for (const AlertId alert : alerts) {
    POSTRIDER_TRY(
        const Listed<Notification> listed,
        reader.list_notifications({.states = {NotificationState::sent}, .alert_id = alert},
                                  {.limit = page_size}));
    for (const Notification& notification : listed.items) {
      if (notification.transition == NotificationTransition::raised) {
        before.told.push_back({notification.channel_id, alert});
      }
    }
  }
  return {};
}

Result<void> load_sent(NotificationReader& reader, ChannelId channel, WallTime since,
                       NotificationsBefore& before) {
  std::set<MessageId> messages;
  Page page{.limit = page_size};
  for (std::uint32_t read = 0; read < sent_max; read += page_size) {
    POSTRIDER_TRY(const Listed<Notification> listed,
                  reader.list_notifications(
                      {.channel_id = channel, .states = {NotificationState::sent}}, page));
    for (const Notification& notification : listed.items) {
      if (!notification.sent_at || *notification.sent_at <= since) {
        return {};
      }
      if (notification.message_id && messages.insert(*notification.message_id).second &&
          notification.transition != NotificationTransition::test) {
        before.sent.push_back({channel, *notification.sent_at});
      }
    }
    if (!listed.next) {
      return {};
    }
    page.before = listed.next;
  }
  return {};
}

}  // namespace

Result<NotificationsBefore> load_notifications(NotificationWriter& writer,
                                               NotificationReader* reader,
                                               const std::vector<Alert>& alerts, WallTime now) {
  NotificationsBefore before;
  before.alerts = alerts;
  POSTRIDER_CHECK(load_waiting(writer, before));
  if (!reader) {
    return before;
  }
  POSTRIDER_TRY(const std::vector<NotificationChannel> channels, writer.load_channels());
  POSTRIDER_CHECK(load_told_and_sent(*reader, channels, now, before));
  return before;
}

Result<void> load_told_and_sent(NotificationReader& reader,
                                const std::vector<NotificationChannel>& channels, WallTime now,
                                NotificationsBefore& before) {
  POSTRIDER_CHECK(load_told(reader, before));
  for (const NotificationChannel& channel : channels) {
    POSTRIDER_CHECK(load_sent(reader, channel.id, now - MessageLimit::period, before));
  }
  return {};
}

}  // namespace postrider
