// AdminChanges: what another server on the same store has changed.
#include <memory>
#include <set>
#include <utility>

#include "runtime/admin/admin_changes.h"
#include "runtime/admin/lane_notices.h"

namespace postrider {
namespace {

std::set<TenantId> tenants_of(const AccessSnapshot& access) {
  std::set<TenantId> ids;
  for (const auto& [serial, tenant] : access.tenants()) {
    ids.insert(tenant->id);
  }
  return ids;
}

}  // namespace

void AdminChanges::take_webhook(RepliesByShard& replies, Webhook webhook) {
  const WebhookRef known = directory()->find(webhook.id);
  if (known && *known == webhook) {
    return;
  }
  auto taken = std::make_shared<const Webhook>(std::move(webhook));
  WebhookChanged input{.webhook = taken};
  if (!known) {
    input.backlog_due = WallTime{};  // Its first deliveries may be in the store already.
  }
  notify_lane(replies, taken->id, std::move(input));
  directory_.replace(directory()->with(taken));
  if (observer_) {
    observer_->webhook_stored(*taken);
  }
}

void AdminChanges::drop_webhook(RepliesByShard& replies, WebhookId id) {
  if (!directory()->find(id)) {
    return;
  }
  directory_.replace(directory()->without(id));
  notify_removed(replies, id);
}

void AdminChanges::take_access(RepliesByShard& replies, AccessSnapshot access) {
  const std::shared_ptr<const AccessSnapshot> known = this->access();
  std::set<TenantId> tenants = tenants_of(access);
  tenants.merge(tenants_of(*known));
  for (const TenantId& id : tenants) {
    if (access.is_suspended(id) != known->is_suspended(id)) {
      notify_suspension(replies, access, id);
    }
    if (access.limits_of(id) != known->limits_of(id)) {
      notify_limits(replies, access, id);
    }
  }
  access_.replace(std::move(access));
}

void AdminChanges::take_channels(ChannelDirectory channels) {
  channels_.replace(std::move(channels));
}

}  // namespace postrider
