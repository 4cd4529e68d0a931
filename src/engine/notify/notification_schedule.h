// Decides which notification channel sends a message next, for all channels. ChannelQueue decides
// for one.
//
// Pure. Single-threaded. All times are steady wall times.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/model/notification.h"
#include "engine/admin/channel_directory.h"
#include "engine/notify/channel_queue.h"
#include "engine/notify/outgoing_message.h"

namespace postrider {

/// Bounds memory. Further notifications are held back.
constexpr std::size_t waiting_total_max = 50'000;
/// No mail is sent for so long after the mail server could not be used: each attempt may hang.
constexpr Millis mail_pause = std::chrono::minutes{1};

/// How many notifications were settled, and how many attempts failed (`waiting`).
using NotificationTally = std::map<std::pair<ChannelKind, NotificationState>, std::uint64_t>;

class NotificationSchedule {
 public:
  explicit NotificationSchedule(std::shared_ptr<const ChannelDirectory> channels)
      : channels_(std::move(channels)) {}

  /// Channels that are gone are forgotten; what those that are switched off owe is held back.
  void change(std::shared_ptr<const ChannelDirectory> channels);

  void add(Notification notification, WallTime now);

  /// See ChannelQueue.
  void hand_over();

  // At startup, or after another server.
  void restore(Notification notification, WallTime now);
  void remember_told(ChannelId channel, AlertId id);
  void remember_sent(ChannelId channel, WallTime at);

  /// The next message that is due. A channel has no other until `finish`.
  [[nodiscard]] std::optional<OutgoingMessage> next(WallTime now);
  void finish(ChannelId channel, const SendResult& result, WallTime now);

  /// When `next` is to be called again. nullopt: not before something is added.
  [[nodiscard]] std::optional<WallTime> wake_at() const;

  /// What has been settled since the last call.
  [[nodiscard]] NotificationOutcomes take_settled() { return std::exchange(settled_, {}); }

  [[nodiscard]] std::set<ChannelId> failing() const;
  /// Why the last message of a failing channel was not sent.
  [[nodiscard]] std::string last_error(ChannelId channel) const;
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] const NotificationTally& tally() const { return tally_; }

 private:
  using Queues = std::map<ChannelId, ChannelQueue>;

  /// Null if there is no such channel.
  [[nodiscard]] ChannelQueue* queue_of(ChannelId id);
  template <class Change>
  void change_queue(ChannelId id, Change change);
  [[nodiscard]] bool is_paused(ChannelId id, const ChannelQueue& queue, WallTime now) const;
  [[nodiscard]] std::optional<OutgoingMessage> take_from(Queues::iterator queue, WallTime now);
  /// Counts what was settled since there were `known` entries.
  void count_settled(ChannelId id, std::size_t known);

  std::shared_ptr<const ChannelDirectory> channels_;
  Queues queues_;   // Of channels that owe something, or lately did.
  ChannelId last_;  // Whose turn it was.
  std::optional<WallTime> mail_paused_until_;
  std::size_t waiting_ = 0;  // Of all queues.
  NotificationOutcomes settled_;
  NotificationTally tally_;
};

}  // namespace postrider
