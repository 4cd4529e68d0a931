// A message to the readers of a notification channel, and what became of it. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/notification.h"
#include "engine/admin/channel_directory.h"

namespace postrider {

struct OutgoingMessage {
  ChannelRef channel;
  /// Oldest first, at least one. Of one kind and transition, and with the same recipients, unless
  /// it is a summary.
  std::vector<Notification> notifications;
  bool is_summary = false;  // Of what was held back by the limit per hour.
  /// Further notifications that were held back, of which only the number is known.
  std::uint64_t surplus = 0;
  /// Set if this message uses up the limit per hour: when the summary of the next ones follows.
  std::optional<WallTime> summary_at = std::nullopt;
  /// The recipients who have the message, or will never get it. Empty at the first attempt.
  std::set<std::string> done = {};
};

enum class SendVerdict : std::uint8_t {
  sent,         // To every recipient that it can be sent to.
  refused,      // For good, by all recipients.
  postponed,    // It may succeed later.
  unreachable,  // It may succeed later; until then, neither will others that use the same server.
};

struct SendResult {
  SendVerdict verdict = SendVerdict::sent;
  std::string reason = {};  // A sentence; also of a message that some recipients refused.
  WallTime at = {};         // Wall time.
  std::optional<MessageId> message_id = std::nullopt;
  std::optional<EventId> event_id = std::nullopt;
  std::set<std::string> done = {};  // See OutgoingMessage. Only if postponed or unreachable.
};

}  // namespace postrider
