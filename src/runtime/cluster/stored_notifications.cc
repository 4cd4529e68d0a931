#include "runtime/cluster/stored_notifications.h"

#include <optional>
#include <utility>

#include "engine/notify/notification_schedule.h"

namespace postrider {
namespace {

constexpr std::uint32_t page_size = 500;

}  // namespace

void StoredNotifications::add_known(std::span<const Notification> notifications) {
  for (const Notification& notification : notifications) {
    not_stored_.insert(notification.id);
  }
  // Bounds memory: a notification that is sent before it is stored is never seen here. Removes the
  // oldest, because ids begin with a time.
  while (not_stored_.size() > waiting_total_max) {
    not_stored_.erase(not_stored_.begin());
  }
}

/// Forgets notifications that no longer wait.
Result<std::vector<Notification>> StoredNotifications::take_new(NotificationWriter& store) {
  std::vector<Notification> found;
  std::set<NotificationId> waiting;
  std::optional<NotificationId> after;
  do {
    POSTRIDER_TRY(std::vector<Notification> page, store.load_waiting(after, page_size));
    after = page.size() == page_size ? std::optional{page.back().id} : std::nullopt;
    for (Notification& notification : page) {
      waiting.insert(notification.id);
      const bool is_known =
          known_.contains(notification.id) || not_stored_.contains(notification.id);
      if (!is_known && notification.transition != NotificationTransition::test) {
        found.push_back(std::move(notification));
      }
    }
  } while (after && waiting.size() < waiting_total_max);
  std::erase_if(not_stored_, [&](NotificationId id) { return waiting.contains(id); });
  known_ = std::move(waiting);
  return found;
}

}  // namespace postrider
