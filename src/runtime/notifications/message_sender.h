// Sends one message of a notification channel: by e-mail, or as an event to the webhook that the
// channel owns. Notifier thread only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/notify/message_texts.h"
#include "engine/admin/access_snapshot.h"
#include "engine/intake/directory.h"
#include "engine/notify/outgoing_message.h"
#include "ports/clock.h"
#include "ports/mailer.h"

namespace postrider {

struct NotificationOptions {
  std::string mail_from = "postrider@localhost";
  std::string public_url = {};  // Of the dashboard, without a slash at its end. Empty: no links.
  MessageTexts texts = *MessageTexts::make({});
  Millis dead_letters_window = std::chrono::hours{1};
};

class MessageSender {
 public:
  /// All of them must be callable and outlive this object.
  struct Parts {
    const Clock* clock = nullptr;
    Mailer* mailer = nullptr;  // Null: no mail server is configured.
    std::function<Uuid()> new_uuid;
    std::function<std::shared_ptr<const Directory>()> webhooks;
    std::function<std::shared_ptr<const AccessSnapshot>()> access;
    /// Publishes an event to one webhook; returns when it is stored.
    std::function<Result<void>(Event, WebhookId)> publish;
  };

  MessageSender(NotificationOptions options, Parts parts)
      : options_(std::move(options)), parts_(std::move(parts)) {}

  /// Blocks until the mail server has answered or the event is stored.
  [[nodiscard]] SendResult send(const OutgoingMessage& message);

 private:
  [[nodiscard]] TemplateScope describe(const OutgoingMessage& message, bool for_tenant) const;
  [[nodiscard]] SendResult send_mails(const OutgoingMessage& message);
  [[nodiscard]] SendResult publish(const OutgoingMessage& message);
  [[nodiscard]] std::string event_data_of(const OutgoingMessage& message) const;

  NotificationOptions options_;
  Parts parts_;
};

}  // namespace postrider
