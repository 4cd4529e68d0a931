#include "runtime/notifications/message_sender.h"

#include <set>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/model/system_event_types.h"
#include "core/notify/event_message.h"

#include "runtime/notifications/notification_maker.h"
#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

MessageFacts facts_of(const OutgoingMessage& message, const NotificationOptions& options,
                      bool for_tenant) {
  return {.notifications = message.notifications,
          .is_summary = message.is_summary,
          .surplus = message.surplus,
          .summary_at = message.summary_at,
          .channel_name = message.channel->name,
          .public_url = options.public_url,
          .for_tenant = for_tenant,
          .dead_letters_window = options.dead_letters_window};
}

/// Tenants do not learn the name of the mail server.
std::string reason_for(const NotificationChannel& channel, const MailOutcome& outcome) {
  if (!channel.tenant_id) {
    return outcome.reason + ".";
  }
  if (outcome.verdict == MailVerdict::unreachable) {
    return "The mail server cannot be used at the moment.";
  }
  return outcome.code == 0 ? std::string{"The mail was refused."}
                           : fmt::format("The mail server refused the mail: {}.", outcome.code);
}

/// Sends the mails of one message, one per recipient: nobody sees who else is told.
class MailRound {
 public:
  MailRound(Mailer* mailer, const OutgoingMessage& message)
      : mailer_(mailer), message_(message), done_(message.done) {}

  void send(const Mail& mail) {
    if (unreachable_ || done_.contains(mail.to)) {
      return;
    }
    const NotificationChannel& channel = *message_.channel;
    const MailOutcome outcome =
        mailer_ ? mailer_->send(mail)
                : MailOutcome{MailVerdict::unreachable,
                              "No mail server is configured (setting smtp.server)"};
    if (outcome.verdict == MailVerdict::accepted) {
      ++accepted_;
      done_.insert(mail.to);
      return;
    }
    spdlog::warn("notification.mail_failed channel={} reason=\"{}\"", channel.id.to_string(),
                 log_safe(outcome.reason));
    if (outcome.verdict == MailVerdict::refused) {
      refusal_ = reason_for(channel, outcome);
      done_.insert(mail.to);
      return;
    }
    unreachable_ = outcome.verdict == MailVerdict::unreachable;
    failure_ = reason_for(channel, outcome);
  }

  [[nodiscard]] SendResult result() && {
    if (!failure_.empty()) {
      return {.verdict = unreachable_ ? SendVerdict::unreachable : SendVerdict::postponed,
              .reason = std::move(failure_),
              .done = std::move(done_)};
    }
    if (accepted_ == 0 && message_.done.empty()) {
      return {.verdict = SendVerdict::refused,
              .reason = refusal_.empty() ? "The channel has no recipient." : std::move(refusal_)};
    }
    return {.verdict = SendVerdict::sent, .reason = std::move(refusal_)};
  }

 private:
  Mailer* mailer_;
  const OutgoingMessage& message_;
  std::set<std::string> done_;
  std::size_t accepted_ = 0;
  bool unreachable_ = false;
  std::string failure_;  // Of a mail that may be sent later.
  std::string refusal_;  // Of a mail that never will.
};

}  // namespace

SendResult MessageSender::send(const OutgoingMessage& message) {
  SendResult result =
      message.channel->kind == ChannelKind::email ? send_mails(message) : publish(message);
  result.at = parts_.clock->now().wall;
  return result;
}

TemplateScope MessageSender::describe(const OutgoingMessage& message, bool for_tenant) const {
  return describe_message(facts_of(message, options_, for_tenant));
}

SendResult MessageSender::send_mails(const OutgoingMessage& message) {
  const Notification& first = message.notifications.front();
  const bool is_alone = message.notifications.size() == 1;
  const Recipients recipients = recipients_of(*message.channel, first, *parts_.access());
  const MessageId message_id{parts_.new_uuid()};
  MailRound round{parts_.mailer, message};
  std::size_t number = 0;
  const auto send_to = [&](const std::vector<std::string>& addresses, bool for_tenant) {
    if (addresses.empty()) {
      return;
    }
    const TemplateScope scope = describe(message, for_tenant);
    Mail mail{.from = options_.mail_from,
              .to = {},
              .subject = options_.texts.render(MessagePart::subject, scope),
              .text = options_.texts.render(MessagePart::text, scope),
              .html = options_.texts.render(MessagePart::html, scope),
              .id = {},
              .thread = is_alone && first.alert_id ? std::optional{first.alert_id->to_string()}
                                                   : std::nullopt,
              .date = parts_.clock->now().wall};
    for (const std::string& address : addresses) {
      mail.to = address;
      mail.id = fmt::format("{}.{}", message_id.to_string(), ++number);
      round.send(mail);
    }
  };
  send_to(recipients.operators, /*for_tenant=*/false);
  send_to(recipients.tenants, /*for_tenant=*/true);
  SendResult result = std::move(round).result();
  result.message_id = message_id;
  return result;
}

std::string MessageSender::event_data_of(const OutgoingMessage& message) const {
  const bool for_tenant = message.channel->tenant_id.has_value();
  const TemplateScope scope = describe(message, for_tenant);
  switch (message.channel->kind) {
    case ChannelKind::slack:
      return options_.texts.render(MessagePart::slack, scope);
    case ChannelKind::teams:
      return options_.texts.render(MessagePart::teams, scope);
    case ChannelKind::webhook:
    case ChannelKind::email:
      break;
  }
  return event_data(facts_of(message, options_, for_tenant),
                    options_.texts.render(MessagePart::subject, scope));
}

SendResult MessageSender::publish(const OutgoingMessage& message) {
  const NotificationChannel& channel = *message.channel;
  const WebhookRef webhook =
      channel.webhook_id ? parts_.webhooks()->find(*channel.webhook_id) : nullptr;
  if (!webhook || !webhook->active) {
    return {.verdict = SendVerdict::postponed,
            .reason = "The webhook of the channel is switched off."};
  }
  const Notification& first = message.notifications.front();
  const WallTime now = parts_.clock->now().wall;
  Event event;
  event.id = EventId{parts_.new_uuid()};
  event.tenant_id = webhook->tenant_id;
  event.type = system_event_type(first.kind, first.transition);
  event.idempotency_key = first.id.to_string();
  event.data = event_data_of(message);
  event.source = "postrider.notifications";
  event.timestamp = now;
  event.created_at = now;
  const EventId event_id = event.id;
  if (const Result<void> stored = parts_.publish(std::move(event), webhook->id); !stored) {
    return {.verdict = SendVerdict::postponed, .reason = stored.error().message};
  }
  return {.verdict = SendVerdict::sent,
          .reason = {},
          .at = now,
          .message_id = MessageId{parts_.new_uuid()},
          .event_id = event_id};
}

}  // namespace postrider
