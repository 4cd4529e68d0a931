// Stores notification channels, and the notifications that they owe.
//
// The specification is tests/contract/notification_contract.cc. Calls block. NotificationWriter is
// used by the store thread only, each NotificationReader by one reader thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/notification.h"
#include "core/model/notification_channel.h"
#include "core/model/page.h"

namespace postrider {

class NotificationWriter {
 public:
  virtual ~NotificationWriter() = default;

  /// In id order.
  [[nodiscard]] virtual Result<std::vector<NotificationChannel>> load_channels() = 0;
  /// Adds or replaces. Durable when it returns, like every change here; inside of
  /// Store::atomically, with the rest of the transaction.
  [[nodiscard]] virtual Result<void> put_channel(const NotificationChannel& channel) = 0;
  /// Removes the channel; remove_old removes its notifications. Fails with not_found.
  [[nodiscard]] virtual Result<void> remove_channel(ChannelId id) = 0;

  /// Adds notifications. One that exists already is not changed: an earlier answer may have been
  /// lost.
  [[nodiscard]] virtual Result<void> add(std::span<const Notification> notifications) = 0;
  /// Records outcomes in one transaction. Has no effect on a notification that is unknown or does
  /// not wait.
  [[nodiscard]] virtual Result<void> settle(std::span<const NotificationOutcome> outcomes) = 0;
  /// At most `limit` waiting notifications of existing channels, in id order, after `after`.
  [[nodiscard]] virtual Result<std::vector<Notification>> load_waiting(
      std::optional<NotificationId> after, std::uint32_t limit) = 0;
  /// Removes at most `limit` notifications: those that do not wait and were made before `before`,
  /// and all whose channel is gone. Returns the number removed.
  [[nodiscard]] virtual Result<std::uint32_t> remove_old(WallTime before, std::uint32_t limit) = 0;

 protected:
  NotificationWriter() = default;
  NotificationWriter(const NotificationWriter&) = default;
  NotificationWriter& operator=(const NotificationWriter&) = default;
};

/// Empty lists and nullopts do not restrict.
struct NotificationFilter {
  std::optional<ChannelId> channel_id = std::nullopt;
  std::vector<NotificationState> states = {};
  std::optional<AlertId> alert_id = std::nullopt;
};

/// The stored notifications of a channel by state.
struct NotificationCounts {
  std::uint64_t waiting = 0;
  std::uint64_t sent = 0;
  std::uint64_t held_back = 0;
  std::uint64_t failed = 0;

  bool operator==(const NotificationCounts&) const = default;
};

[[nodiscard]] inline std::uint64_t& count_of(NotificationCounts& counts, NotificationState state) {
  switch (state) {
    case NotificationState::sent:
      return counts.sent;
    case NotificationState::held_back:
      return counts.held_back;
    case NotificationState::failed:
      return counts.failed;
    case NotificationState::waiting:
      break;
  }
  return counts.waiting;
}

class NotificationReader {
 public:
  virtual ~NotificationReader() = default;

  /// Newest first.
  [[nodiscard]] virtual Result<Listed<Notification>> list_notifications(
      const NotificationFilter& filter, const Page& page) = 0;
  /// Fails with not_found.
  [[nodiscard]] virtual Result<Notification> find_notification(NotificationId id) = 0;
  [[nodiscard]] virtual Result<NotificationCounts> count_notifications(ChannelId id) = 0;

 protected:
  NotificationReader() = default;
  NotificationReader(const NotificationReader&) = default;
  NotificationReader& operator=(const NotificationReader&) = default;
};

}  // namespace postrider
