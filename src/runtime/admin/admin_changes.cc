#include "runtime/admin/admin_changes.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "runtime/admin/api_key_use.h"
#include "runtime/admin/lane_notices.h"
#include "runtime/background/removed_webhook_cleanup.h"
#include "runtime/store/idempotent_request.h"

namespace postrider {
namespace {

/// The tenant that the change suspends or resumes; null for other changes.
const TenantId* suspension_of(const RegistryChange& change) {
  if (const auto* suspend = std::get_if<SuspendTenant>(&change)) {
    return &suspend->tenant_id;
  }
  const auto* resume = std::get_if<ResumeTenant>(&change);
  return resume != nullptr ? &resume->tenant_id : nullptr;
}

/// The session that the change opens; null for other changes.
const ApiKey* session_of(const RegistryChange& change) {
  if (const auto* redeem = std::get_if<RedeemLink>(&change)) {
    return &redeem->session;
  }
  const auto* add = std::get_if<AddSession>(&change);
  return add != nullptr ? &add->session : nullptr;
}

/// What is removed together with a change: expired links and sessions, and the oldest sessions
/// beyond the limit. Applies it to `changed`.
Result<std::vector<RegistryChange>> removals_with(const RegistryChange& change,
                                                  AccessSnapshot& changed, WallTime now) {
  std::vector<RegistryChange> removals;
  const ApiKey* const session = session_of(change);
  if (session == nullptr && !std::holds_alternative<AddLink>(change)) {
    return removals;
  }
  if (changed.has_expired(now)) {
    removals.emplace_back(SweepExpired{now});
    POSTRIDER_TRY(changed, changed.with(removals.back(), now));
  }
  EndSessions surplus{session != nullptr ? changed.surplus_sessions(*session)
                                         : std::vector<KeyId>{}};
  if (!surplus.ids.empty()) {
    removals.emplace_back(std::move(surplus));
    POSTRIDER_TRY(changed, changed.with(removals.back(), now));
  }
  return removals;
}

AuditEntry removal_entry(const AuditEntry& cause, const Webhook& webhook) {
  AuditEntry entry = cause;
  entry.action = "webhook.delete";
  entry.subject = webhook.id.to_string();
  entry.tenant_id = webhook.tenant_id;
  entry.detail = R"({"because":"tenant.delete"})";
  return entry;
}

/// Cancels deliveries of the webhooks, which are about to be removed: as many as one step may.
Result<TenantCounts> cancel_some(const ChangeContext& context, const Directory& webhooks) {
  TenantCounts cancelled;
  for (const auto& [id, webhook] : webhooks.all()) {
    const auto left = static_cast<std::uint32_t>(cancel_step_max - cancelled.total());
    if (left == 0) {
      break;
    }
    POSTRIDER_TRY(const TenantCounts step,
                  context.store.catalog->cancel_waiting(id, context.entry.at, left));
    cancelled += step;
  }
  return cancelled;
}

/// The entry of a change that the server makes by itself.
AuditEntry system_entry(const Webhook& webhook, std::string action, WallTime now) {
  AuditEntry entry;
  entry.at = now;
  entry.action = std::move(action);
  entry.subject = webhook.id.to_string();
  entry.tenant_id = webhook.tenant_id;
  return entry;
}

/// `reason` is one of our own sentences. Replaces what would need escaping in JSON.
std::string reason_detail(const std::string& reason) {
  std::string plain;
  for (const char character : reason) {
    const bool is_plain =
        character >= ' ' && character < 0x7f && character != '"' && character != '\\';
    plain.push_back(is_plain ? character : '?');
  }
  return fmt::format(R"({{"reason":"{}"}})", plain);
}

std::string owned_by(const NotificationChannel& channel) {
  return fmt::format("The webhook belongs to the notification channel {}.", channel.id.to_string());
}

/// What is stored together with a change of a webhook.
Result<void> complete(const ChangeContext& context) {
  if (context.also) {
    POSTRIDER_CHECK(context.also(context.store));
  }
  return context.store.audit->append(context.entry);
}

}  // namespace

AdminChanges::AdminChanges(Directory directory, AccessSnapshot access, ChannelDirectory channels)
    : directory_(std::move(directory)),
      access_(std::move(access)),
      channels_(std::move(channels)) {}

Result<WebhookRef> AdminChanges::add_webhook(const ChangeContext& context, Webhook webhook,
                                             const std::optional<RequestKey>& key) {
  const std::optional<std::uint32_t> own_max = access()->limits_of(webhook.tenant_id).webhooks_max;
  const std::optional<std::uint32_t> max = own_max ? own_max : webhooks_per_tenant_max_;
  if (max && directory()->count_of(webhook.tenant_id) >= *max) {
    return fail(Errc::conflict, fmt::format("The tenant's webhook limit ({}) is reached.", *max));
  }
  return store_webhook(context, std::move(webhook), key);
}

Result<WebhookRef> AdminChanges::edit_webhook(const ChangeContext& context, WebhookId id,
                                              const WebhookEdit& edit,
                                              const std::optional<RequestKey>& key) {
  const WebhookRef current = directory()->find(id);
  if (!current) {
    return fail(Errc::not_found, "There is no such webhook.");
  }
  POSTRIDER_TRY(Webhook edited, edit(*current));
  const ChannelRef owner = channels()->owner_of_webhook(id);
  if (owner &&
      (edited.events != current->events || edited.payload_format != current->payload_format)) {
    return fail(Errc::conflict, owned_by(*owner) + " Its events and payload format are fixed.");
  }
  return store_webhook(context, std::move(edited), key);
}

Result<WebhookRef> AdminChanges::store_webhook(const ChangeContext& context, Webhook webhook,
                                               const std::optional<RequestKey>& key) {
  const WebhookRef before = directory()->find(webhook.id);
  const bool rescheduled = before && !same_schedule(before->retry, webhook.retry);
  const auto write = [&]() -> Result<void> {
    POSTRIDER_CHECK(take_request_key(context.store, key, context.entry.subject, context.entry.at));
    POSTRIDER_CHECK(context.store.catalog->put_webhook(webhook));
    if (rescheduled) {  // The lane then asks for the new schedule.
      POSTRIDER_CHECK(context.store.catalog->mark_rescheduling(webhook.id));
    }
    return complete(context);
  };
  POSTRIDER_CHECK(context.store.atomically(write));
  auto stored = std::make_shared<const Webhook>(std::move(webhook));
  // The lane must know the webhook before events can be published to it.
  notify_lane(
      context.replies, stored->id,
      WebhookChanged{.webhook = stored, .circuit = std::nullopt, .backlog_due = std::nullopt});
  directory_.replace(directory()->with(stored));
  if (observer_) {
    observer_->webhook_stored(*stored);
  }
  return stored;
}

Result<void> AdminChanges::end_forced_opening(const ChangeContext& context, WebhookId id) {
  const WebhookRef current = directory()->find(id);
  if (!current || !current->breaker.force_open_until) {
    return context.store.audit->append(context.entry);
  }
  Webhook changed = *current;
  changed.breaker.force_open_until.reset();
  changed.updated_at = std::max(context.entry.at, current->updated_at);
  return store_webhook(context, std::move(changed), std::nullopt).map([](const WebhookRef&) {});
}

Result<void> AdminChanges::remove_webhook(const ChangeContext& context, WebhookId id) {
  if (const ChannelRef owner = channels()->owner_of_webhook(id)) {
    return fail(Errc::conflict, owned_by(*owner) + " Delete the channel instead.");
  }
  return erase_webhook(context, id);
}

Result<void> AdminChanges::erase_webhook(const ChangeContext& context, WebhookId id) {
  TenantCounts cancelled;
  const auto write = [&]() -> Result<void> {
    // Most webhooks have few waiting deliveries: cancel them at once, so that reads show it. Before
    // the webhook, because settlements lock rows in this order, too.
    POSTRIDER_TRY(cancelled,
                  context.store.catalog->cancel_waiting(id, context.entry.at, cancel_step_max));
    POSTRIDER_CHECK(context.store.catalog->remove_webhook(id, context.entry.at));
    return complete(context);
  };
  POSTRIDER_CHECK(context.store.atomically(write));
  directory_.replace(directory()->without(id));
  notify_removed(context.replies, id);
  if (observer_) {
    observer_->deliveries_cancelled(cancelled);
  }
  return {};
}

void AdminChanges::notify_removed(RepliesByShard& replies, WebhookId id) const {
  notify_lane(replies, id, WebhookRemoved{id});
  if (observer_) {
    observer_->webhook_removed(id);
  }
}

Result<void> AdminChanges::change_registry(const ChangeContext& context,
                                           const RegistryChange& change,
                                           const std::optional<RequestKey>& key) {
  const WallTime now = context.entry.at;
  POSTRIDER_TRY(AccessSnapshot changed, access()->with(change, now));
  POSTRIDER_TRY(const std::vector<RegistryChange> removals, removals_with(change, changed, now));
  const auto write = [&]() -> Result<void> {
    POSTRIDER_CHECK(take_request_key(context.store, key, context.entry.subject, context.entry.at));
    POSTRIDER_CHECK(context.store.registry->apply(change));
    for (const RegistryChange& removal : removals) {
      POSTRIDER_CHECK(context.store.registry->apply(removal));
    }
    return context.store.audit->append(context.entry);
  };
  POSTRIDER_CHECK(context.store.atomically(write));
  if (const TenantId* tenant_id = suspension_of(change)) {
    notify_suspension(context.replies, changed, *tenant_id);
  }
  if (const auto* limits = std::get_if<SetLimits>(&change)) {
    notify_limits(context.replies, changed, limits->tenant_id);
  }
  access_.replace(std::move(changed));
  return {};
}

Result<void> AdminChanges::remove_tenant(const ChangeContext& context, const TenantId& id,
                                         bool force) {
  const RemoveTenant change{id};
  POSTRIDER_TRY(AccessSnapshot changed, access()->with(change, context.entry.at));
  const Directory theirs = directory()->only(id);
  if (!force && !theirs.all().empty()) {
    return fail(Errc::conflict,
                fmt::format("The tenant has {} webhooks. Delete them first, or delete everything "
                            "with ?force=true.",
                            theirs.all().size()));
  }
  const std::shared_ptr<const ChannelDirectory> known = channels();
  TenantCounts cancelled;
  const auto write = [&]() -> Result<void> {
    POSTRIDER_TRY(cancelled, cancel_some(context, theirs));
    for (const auto& [webhook_id, webhook] : theirs.all()) {
      POSTRIDER_CHECK(context.store.catalog->remove_webhook(webhook_id, context.entry.at));
    }
    for (const auto& [webhook_id, webhook] : theirs.all()) {
      POSTRIDER_CHECK(context.store.audit->append(removal_entry(context.entry, *webhook)));
    }
    for (const ChannelRef& channel : known->of(id)) {
      POSTRIDER_CHECK(context.store.notifications->remove_channel(channel->id));
    }
    POSTRIDER_CHECK(context.store.registry->apply(change));
    return context.store.audit->append(context.entry);
  };
  POSTRIDER_CHECK(context.store.atomically(write));
  // Its id may be used again, also by a webhook of a tenant that is not registered.
  if (access()->is_suspended(id)) {
    notify_suspension(context.replies, changed, id);
  }
  if (access()->limits_of(id) != TenantLimits{}) {
    notify_limits(context.replies, changed, id);
  }
  access_.replace(std::move(changed));
  directory_.replace(directory()->without_tenant(id));
  channels_.replace(known->without_tenant(id));
  for (const auto& [webhook_id, webhook] : theirs.all()) {
    notify_removed(context.replies, webhook_id);
  }
  if (observer_) {
    observer_->deliveries_cancelled(cancelled);
  }
  return {};
}

Result<void> AdminChanges::write_key_uses(Store& store) const {
  const std::shared_ptr<const AccessSnapshot> known = access();
  const NoteKeyUses note = unwritten_uses(*known);
  if (note.uses.empty()) {
    return {};
  }
  POSTRIDER_CHECK(store.registry->apply(note));
  for (const auto& [id, at] : note.uses) {
    mark_written(*known->find_key(id), at);
  }
  return {};
}

Result<void> AdminChanges::disable_webhook(const SystemChange& context, WebhookId id,
                                           const std::string& reason, WallTime now) {
  const WebhookRef current = directory()->find(id);
  if (!current || !current->active) {
    return {};  // Several attempts may ask for the same.
  }
  Webhook disabled = *current;
  switch_off(disabled, reason, now);
  disabled.updated_at = now;
  AuditEntry entry = system_entry(*current, "webhook.disable", now);
  entry.detail = reason_detail(reason);
  return store_webhook({context.store, context.replies, entry}, std::move(disabled), std::nullopt)
      .map([](const WebhookRef&) {});
}

Result<void> AdminChanges::sweep_secrets(const SystemChange& context, Webhook swept, WallTime now) {
  const AuditEntry entry = system_entry(swept, "webhook.secret.end", now);
  return store_webhook({context.store, context.replies, entry}, std::move(swept), std::nullopt)
      .map([](const WebhookRef&) {});
}

}  // namespace postrider
