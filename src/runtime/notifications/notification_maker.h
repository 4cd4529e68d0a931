// Makes the notifications that are owed for a change of an alert or a finished operation: one for
// each channel that wants it.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "core/model/alert.h"
#include "core/model/notification.h"
#include "core/model/operation.h"
#include "core/model/webhook.h"
#include "engine/admin/access_snapshot.h"
#include "engine/admin/channel_directory.h"
#include "engine/intake/directory.h"

namespace postrider {

/// Who is told by a channel of kind email: its own addresses, and the owner and the contacts that
/// belong to the notification. Without repetitions.
struct Recipients {
  std::vector<std::string> operators;  // `to` of a channel of the server.
  std::vector<std::string> tenants;    // All others: they see what a tenant may see.
};
[[nodiscard]] Recipients recipients_of(const NotificationChannel& channel,
                                       const Notification& notification,
                                       const AccessSnapshot& access);

/// Any thread.
class NotificationMaker {
 public:
  /// All of them must be callable as long as this object is used.
  struct Parts {
    std::function<Uuid()> new_uuid;
    std::function<std::shared_ptr<const ChannelDirectory>()> channels;
    std::function<std::shared_ptr<const Directory>()> webhooks;
    std::function<std::shared_ptr<const AccessSnapshot>()> access;
    std::function<std::set<ChannelId>()> failing;
  };

  explicit NotificationMaker(Parts parts) : parts_(std::move(parts)) {}

  /// `transition`: raised or resolved.
  [[nodiscard]] std::vector<Notification> of_alert(const Alert& alert,
                                                   NotificationTransition transition,
                                                   WallTime now) const;

  /// Nothing unless the operation has completed or failed.
  [[nodiscard]] std::vector<Notification> of_operation(const Operation& operation,
                                                       WallTime now) const;

 private:
  [[nodiscard]] std::vector<Notification> for_channels(const Notification& example) const;

  Parts parts_;
};

}  // namespace postrider
