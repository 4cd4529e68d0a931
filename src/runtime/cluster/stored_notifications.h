// Finds the notifications that other servers on the same store have made: one server sends them
// all. Store thread only.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/model/notification.h"
#include "ports/notifications.h"

namespace postrider {

class StoredNotifications {
 public:
  /// Call for notifications that this server sends itself. They may not be stored yet.
  void add_known(std::span<const Notification> notifications);

  /// Returns the waiting notifications that are not known, and marks them as known. Leaves out
  /// tests, which the server that got the request sends.
  [[nodiscard]] Result<std::vector<Notification>> take_new(NotificationWriter& store);

  /// Call when another server becomes the leader.
  void forget_all() {
    known_.clear();
    not_stored_.clear();
  }

 private:
  std::set<NotificationId> known_;       // Waiting in the store.
  std::set<NotificationId> not_stored_;  // Known, and not seen in the store yet.
};

}  // namespace postrider
