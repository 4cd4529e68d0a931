#include "runtime/notifications/notification_maker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/notify/notification_plan.h"

namespace postrider {
namespace {

void add_once(std::vector<std::string>& addresses, const std::string& address) {
  if (std::ranges::count(addresses, address) == 0) {
    addresses.push_back(address);
  }
}

std::string describe(const Operation& operation) {
  const std::string_view kind = operation_kinds.name(operation.kind);
  if (operation.status == OperationStatus::failed) {
    return fmt::format("The operation {} ({}) has failed: {}", operation.id.to_string(), kind,
                       operation.error);
  }
  const OperationOutcomes& outcomes = operation.outcomes;
  return fmt::format(
      "The operation {} ({}) has completed: {} deliveries were changed, {} were skipped. Of those "
      "sent again, {} succeeded, {} became dead letters and {} were cancelled.",
      operation.id.to_string(), kind, operation.done, operation.skipped, outcomes.succeeded,
      outcomes.dead_again, outcomes.cancelled);
}

}  // namespace

Recipients recipients_of(const NotificationChannel& channel, const Notification& notification,
                         const AccessSnapshot& access) {
  Recipients found;
  for (const std::string& address : channel.email.to) {
    add_once(channel.tenant_id ? found.tenants : found.operators, address);
  }
  const auto add_tenants = [&](const std::string& address) {
    if (std::ranges::count(found.operators, address) == 0) {
      add_once(found.tenants, address);
    }
  };
  const NotificationFacts& facts = notification.facts;
  if (channel.email.to_owner && facts.owner_email) {
    add_tenants(*facts.owner_email);
  }
  if (channel.email.to_contacts && facts.tenant_id) {
    if (const TenantRef tenant = access.find_tenant(*facts.tenant_id)) {
      std::ranges::for_each(tenant->contacts, add_tenants);
    }
  }
  return found;
}

std::vector<Notification> NotificationMaker::for_channels(const Notification& example) const {
  const std::shared_ptr<const AccessSnapshot> access = parts_.access();
  const NotificationCause cause{.kind = example.kind,
                                .transition = example.transition,
                                .tenant_id = example.facts.tenant_id,
                                .webhook_id = example.facts.webhook_id};
  std::vector<Notification> made;
  for (const ChannelRef& channel : channels_for(*parts_.channels(), cause, parts_.failing())) {
    const Recipients recipients = recipients_of(*channel, example, *access);
    if (channel->kind == ChannelKind::email && recipients.operators.empty() &&
        recipients.tenants.empty()) {
      continue;  // Nobody is to be told.
    }
    Notification& notification = made.emplace_back(example);
    notification.id = NotificationId{parts_.new_uuid()};
    notification.channel_id = channel->id;
  }
  return made;
}

std::vector<Notification> NotificationMaker::of_alert(const Alert& alert,
                                                      NotificationTransition transition,
                                                      WallTime now) const {
  Notification example;
  example.kind = NotificationKind::of(alert.subject.kind);
  example.transition = transition;
  example.alert_id = alert.id;
  example.made_at = now;
  example.facts = {.tenant_id = alert.tenant_id,
                   .webhook_id = alert.subject.webhook_id,
                   .webhook_name = alert.webhook_name,
                   .webhook_url = alert.webhook_url,
                   .source = alert.subject.source,
                   .operation_id = std::nullopt,
                   .detail = alert.detail,
                   .measure = alert.measure,
                   .raised_at = alert.raised_at,
                   .resolved_at = alert.resolved_at,
                   .owner_email = std::nullopt};
  if (alert.subject.webhook_id) {
    if (const WebhookRef webhook = parts_.webhooks()->find(*alert.subject.webhook_id)) {
      example.facts.owner_email = webhook->owner_email;
    }
  }
  return for_channels(example);
}

std::vector<Notification> NotificationMaker::of_operation(const Operation& operation,
                                                          WallTime now) const {
  if (operation.status != OperationStatus::completed &&
      operation.status != OperationStatus::failed) {
    return {};
  }
  Notification example;
  example.kind = NotificationKind::operation_finished();
  example.transition = NotificationTransition::finished;
  example.made_at = now;
  example.facts.tenant_id = operation.tenant_id;
  example.facts.operation_id = operation.id;
  example.facts.detail = describe(operation);
  example.facts.raised_at = operation.started_at.value_or(operation.created_at);
  example.facts.resolved_at = operation.finished_at.value_or(now);
  return for_channels(example);
}

}  // namespace postrider
