#include "runtime/desk.h"

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "runtime/farewells.h"
#include "runtime/once.h"
#include "runtime/placement.h"

namespace postrider {
namespace {

void tell_lane(Mails& mails, WebhookId id, Input input) {
  mails[worker_of(id, mails.size())].inputs.push_back(std::move(input));
}

/// Good moments to throw away what has expired: someone is at the links anyway.
bool concerns_links(const RegistryChange& change) {
  return std::holds_alternative<AddLink>(change) || std::holds_alternative<RedeemLink>(change);
}

AuditEntry removal_entry(const AuditEntry& cause, const Webhook& webhook) {
  AuditEntry entry = cause;
  entry.action = "webhook.delete";
  entry.subject = webhook.id.to_string();
  entry.tenant_id = webhook.tenant_id;
  entry.detail = R"({"because":"tenant.delete"})";
  return entry;
}

/// What the server did to a webhook by itself.
AuditEntry own_entry(const Webhook& webhook, std::string action, WallTime now) {
  AuditEntry entry;
  entry.at = now;
  entry.action = std::move(action);
  entry.subject = webhook.id.to_string();
  entry.tenant_id = webhook.tenant_id;
  return entry;
}

/// The reason is one of our own sentences; JSON wants it tame.
std::string reason_detail(const std::string& reason) {
  std::string plain;
  for (const char character : reason) {
    const bool tame = character >= ' ' && character < 0x7f && character != '"' && character != '\\';
    plain.push_back(tame ? character : '?');
  }
  return fmt::format(R"({{"reason":"{}"}})", plain);
}

}  // namespace

Desk::Desk(Directory directory, Roster roster)
    : directory_(std::move(directory)), roster_(std::move(roster)) {}

Result<WebhookRef> Desk::add_webhook(const Errand& errand, Webhook webhook) {
  const TenantLimits limits = roster()->limits_of(webhook.tenant_id);
  if (limits.webhooks_max && directory()->count_of(webhook.tenant_id) >= *limits.webhooks_max) {
    return fail(Errc::conflict, fmt::format("This tenant may have {} webhooks and has them.",
                                            *limits.webhooks_max));
  }
  return store_webhook(errand, std::move(webhook));
}

Result<WebhookRef> Desk::edit_webhook(const Errand& errand, WebhookId id,
                                      const Service::WebhookEdit& edit) {
  const WebhookRef current = directory()->find(id);
  if (!current) {
    return fail(Errc::not_found, "There is no such webhook.");
  }
  POSTRIDER_TRY(Webhook edited, edit(*current));
  return store_webhook(errand, std::move(edited));
}

Result<WebhookRef> Desk::store_webhook(const Errand& errand, Webhook webhook) {
  const WebhookRef before = directory()->find(webhook.id);
  const bool rescheduled = before && !same_schedule(before->retry, webhook.retry);
  const auto write = [&]() -> Result<void> {
    POSTRIDER_CHECK(take_request_key(errand.store, errand.entry));
    POSTRIDER_CHECK(errand.store.catalog->put_webhook(webhook));
    if (rescheduled) {  // The lane will ask for it.
      POSTRIDER_CHECK(errand.store.catalog->mark_rescheduling(webhook.id));
    }
    return errand.store.journal->append(errand.entry);
  };
  POSTRIDER_CHECK(errand.store.atomically(write));
  auto stored = std::make_shared<const Webhook>(std::move(webhook));
  // The lane learns of it before anyone can publish to it.
  tell_lane(
      errand.mails, stored->id,
      WebhookChanged{.webhook = stored, .circuit = std::nullopt, .backlog_due = std::nullopt});
  directory_.replace(directory()->with(stored));
  watchers_.stored(*stored);
  return stored;
}

Result<void> Desk::remove_webhook(const Errand& errand, WebhookId id) {
  std::uint32_t cancelled = 0;
  const auto write = [&]() -> Result<void> {
    POSTRIDER_CHECK(errand.store.catalog->remove_webhook(id));
    // Whoever looks right away sees what most webhooks have waiting as cancelled.
    POSTRIDER_TRY(cancelled,
                  errand.store.catalog->cancel_waiting(id, errand.entry.at, cancelled_at_once));
    return errand.store.journal->append(errand.entry);
  };
  POSTRIDER_CHECK(errand.store.atomically(write));
  directory_.replace(directory()->without(id));
  tell_removed(errand.mails, id);
  watchers_.cancelled(cancelled);
  return {};
}

void Desk::tell_removed(Mails& mails, WebhookId id) const {
  tell_lane(mails, id, WebhookRemoved{id});
  watchers_.removed(id);
}

Result<void> Desk::change_registry(const Errand& errand, const RegistryChange& change) {
  const WallTime now = errand.entry.at;
  POSTRIDER_TRY(Roster changed, roster()->with(change, now));
  const bool sweeps = concerns_links(change) && changed.has_expired(now);
  const SweepExpired sweep{now};
  if (sweeps) {
    POSTRIDER_TRY(changed, changed.with(sweep, now));
  }
  const auto write = [&]() -> Result<void> {
    POSTRIDER_CHECK(take_request_key(errand.store, errand.entry));
    POSTRIDER_CHECK(errand.store.registry->apply(change));
    if (sweeps) {
      POSTRIDER_CHECK(errand.store.registry->apply(sweep));
    }
    return errand.store.journal->append(errand.entry);
  };
  POSTRIDER_CHECK(errand.store.atomically(write));
  roster_.replace(std::move(changed));
  return {};
}

Result<void> Desk::remove_tenant(const Errand& errand, const TenantId& id, bool force) {
  const RemoveTenant change{id};
  POSTRIDER_TRY(Roster changed, roster()->with(change, errand.entry.at));
  const Directory theirs = directory()->only(id);
  if (!force && !theirs.all().empty()) {
    return fail(Errc::conflict,
                fmt::format("The tenant has {} webhooks; delete them first, or everything with "
                            "?force=true.",
                            theirs.all().size()));
  }
  std::uint32_t left = cancelled_at_once;
  const auto write = [&]() -> Result<void> {
    for (const auto& [webhook_id, webhook] : theirs.all()) {
      POSTRIDER_CHECK(errand.store.catalog->remove_webhook(webhook_id));
      POSTRIDER_TRY(const std::uint32_t cancelled,
                    errand.store.catalog->cancel_waiting(webhook_id, errand.entry.at, left));
      left -= cancelled;
      POSTRIDER_CHECK(errand.store.journal->append(removal_entry(errand.entry, *webhook)));
    }
    POSTRIDER_CHECK(errand.store.registry->apply(change));
    return errand.store.journal->append(errand.entry);
  };
  POSTRIDER_CHECK(errand.store.atomically(write));
  roster_.replace(std::move(changed));
  directory_.replace(directory()->without_tenant(id));
  for (const auto& [webhook_id, webhook] : theirs.all()) {
    tell_removed(errand.mails, webhook_id);
  }
  watchers_.cancelled(cancelled_at_once - left);
  return {};
}

Result<void> Desk::write_key_uses(Store& store) const {
  const std::shared_ptr<const Roster> known = roster();
  const NoteKeyUses note = known->unwritten_uses();
  if (note.uses.empty()) {
    return {};
  }
  POSTRIDER_CHECK(store.registry->apply(note));
  for (const auto& [id, at] : note.uses) {
    known->find_key(id)->mark_written(at);
  }
  return {};
}

Result<void> Desk::disable_webhook(const OwnErrand& errand, WebhookId id, const std::string& reason,
                                   WallTime now) {
  const WebhookRef current = directory()->find(id);
  if (!current || !current->active) {
    return {};  // Several attempts may say the same.
  }
  Webhook disabled = *current;
  switch_off(disabled, reason, now);
  disabled.updated_at = now;
  AuditEntry entry = own_entry(*current, "webhook.disable", now);
  entry.detail = reason_detail(reason);
  return store_webhook({errand.store, errand.mails, entry}, std::move(disabled))
      .map([](const WebhookRef&) {});
}

Result<void> Desk::sweep_secrets(const OwnErrand& errand, Webhook swept, WallTime now) {
  const AuditEntry entry = own_entry(swept, "webhook.secret.end", now);
  return store_webhook({errand.store, errand.mails, entry}, std::move(swept))
      .map([](const WebhookRef&) {});
}

}  // namespace postrider
