// A notification: what one channel owes its readers for one change of an alert, one finished
// operation or one test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/alert.h"
#include "core/model/event.h"
#include "core/model/notification_channel.h"

namespace postrider {

enum class NotificationTransition : std::uint8_t { raised, resolved, finished, test };

constexpr EnumNames<NotificationTransition, NotificationTransition::test> notification_transitions{
    {"raised", "resolved", "finished", "test"}};
[[nodiscard]] inline std::string_view to_string(NotificationTransition transition) {
  return notification_transitions.name(transition);
}

/// `waiting`: to be sent at `next_attempt_at` or later. `sent`: accepted by the mail server, or
/// published to the channel's webhook. `held_back`: not told on its own, because of flapping or of
/// the limit per hour. `failed`: given up. The last three are final.
enum class NotificationState : std::uint8_t { waiting, sent, held_back, failed };

constexpr EnumNames<NotificationState, NotificationState::failed> notification_states{
    {"waiting", "sent", "held_back", "failed"}};
[[nodiscard]] inline std::string_view to_string(NotificationState state) {
  return notification_states.name(state);
}

/// Everything that a message says about its cause, as it was when the notification was made.
/// Nothing here is looked up later: the webhook or the alert may be gone by then.
struct NotificationFacts {
  std::optional<TenantId> tenant_id = std::nullopt;  // The affected tenant; nullopt: the server.
  std::optional<WebhookId> webhook_id = std::nullopt;
  std::optional<std::string> webhook_name = std::nullopt;
  std::optional<std::string> webhook_url = std::nullopt;  // As `shown_url` returns it.
  std::optional<std::string> source = std::nullopt;       // The name of a source of events.
  std::optional<OperationId> operation_id = std::nullopt;
  std::string detail;  // A sentence. Never contains a secret (P11).
  std::optional<AlertMeasure> measure = std::nullopt;
  WallTime raised_at = {};                                // Or the start of the operation.
  std::optional<WallTime> resolved_at = std::nullopt;     // Or its end.
  std::optional<std::string> owner_email = std::nullopt;  // Of the webhook, for `to_owner`.

  bool operator==(const NotificationFacts&) const = default;
};

struct Notification {
  NotificationId id;
  ChannelId channel_id;
  NotificationKind kind;
  NotificationTransition transition = NotificationTransition::raised;
  std::optional<AlertId> alert_id = std::nullopt;
  NotificationFacts facts;
  WallTime made_at;
  NotificationState state = NotificationState::waiting;
  std::uint32_t attempts = 0;
  std::string last_error;  // A sentence; empty: none. Never contains a secret (P11).
  std::optional<WallTime> sent_at = std::nullopt;
  std::optional<WallTime> next_attempt_at = std::nullopt;  // Only while it waits.
  std::optional<MessageId> message_id = std::nullopt;      // The message that it was part of.
  std::optional<EventId> event_id = std::nullopt;          // If that message was an event.

  bool operator==(const Notification&) const = default;
};

/// What became of a notification that was waiting. The members are those of Notification.
struct NotificationOutcome {
  NotificationId id;
  NotificationState state = NotificationState::waiting;  // `waiting`: to be tried again.
  std::uint32_t attempts = 0;
  std::string last_error = {};
  std::optional<WallTime> sent_at = std::nullopt;
  std::optional<WallTime> next_attempt_at = std::nullopt;
  std::optional<MessageId> message_id = std::nullopt;
  std::optional<EventId> event_id = std::nullopt;

  bool operator==(const NotificationOutcome&) const = default;
};

}  // namespace postrider
