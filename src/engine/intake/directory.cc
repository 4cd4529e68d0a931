#include "engine/intake/directory.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/assert.h"

namespace postrider {
namespace {

bool has_wildcard(const EventPattern& pattern) {
  return pattern.text().find('*') != std::string::npos;
}

}  // namespace

Directory::Directory(std::vector<WebhookRef> webhooks) {
  std::map<TenantId, std::map<WebhookId, WebhookRef>> by_tenant;
  for (WebhookRef& webhook : webhooks) {
    by_tenant[webhook->tenant_id].insert_or_assign(webhook->id, webhook);
    const WebhookId id = webhook->id;
    webhooks_.insert_or_assign(id, std::move(webhook));
  }
  for (auto& [tenant_id, of_tenant] : by_tenant) {
    rebuild(tenant_id, std::move(of_tenant));
  }
}

Directory Directory::with(WebhookRef webhook) const {
  POSTRIDER_ASSERT(webhook != nullptr);
  const WebhookRef before = find(webhook->id);
  // A webhook that moves to another tenant must be removed from the first one.
  Directory copy = before && before->tenant_id != webhook->tenant_id ? without(webhook->id) : *this;
  std::map<WebhookId, WebhookRef> of_tenant = copy.webhooks_of(webhook->tenant_id);
  of_tenant.insert_or_assign(webhook->id, webhook);
  copy.rebuild(webhook->tenant_id, std::move(of_tenant));
  const WebhookId id = webhook->id;
  copy.webhooks_.insert_or_assign(id, std::move(webhook));
  return copy;
}

Directory Directory::without(WebhookId id) const {
  Directory copy = *this;
  const auto found = copy.webhooks_.find(id);
  if (found == copy.webhooks_.end()) {
    return copy;
  }
  const TenantId tenant_id = found->second->tenant_id;
  std::map<WebhookId, WebhookRef> of_tenant = webhooks_of(tenant_id);
  of_tenant.erase(id);
  copy.rebuild(tenant_id, std::move(of_tenant));
  copy.webhooks_.erase(found);
  return copy;
}

Directory Directory::without_tenant(const TenantId& tenant_id) const {
  Directory copy = *this;
  for (const auto& [id, webhook] : webhooks_of(tenant_id)) {
    copy.webhooks_.erase(id);
  }
  copy.tenants_.erase(tenant_id);
  return copy;
}

Directory Directory::only(const TenantId& tenant_id) const {
  Directory part;
  if (const auto found = tenants_.find(tenant_id); found != tenants_.end()) {
    part.webhooks_ = found->second->webhooks;
    part.tenants_.emplace(tenant_id, found->second);
  }
  return part;
}

std::size_t Directory::count_of(const TenantId& tenant_id) const {
  const auto found = tenants_.find(tenant_id);
  return found == tenants_.end() ? 0 : found->second->webhooks.size();
}

WebhookRef Directory::find(WebhookId id) const {
  const auto found = webhooks_.find(id);
  return found == webhooks_.end() ? nullptr : found->second;
}

MatchCandidates Directory::candidates(const Event& event) const {
  MatchCandidates found;
  const auto known = tenants_.find(event.tenant_id);
  if (known == tenants_.end()) {
    return found;
  }
  const Tenant& tenant = *known->second;
  found.webhooks = &tenant.in_order;
  if (event.resource_id) {
    const auto by_resource = tenant.by_resource.find(*event.resource_id);
    if (by_resource != tenant.by_resource.end()) {
      found.places[0] = by_resource->second;
    }
  }
  if (const auto exact = tenant.by_type.find(event.type); exact != tenant.by_type.end()) {
    found.places[1] = exact->second;
  }
  found.places[2] = tenant.wildcards;
  return found;
}

std::uint32_t MatchCandidates::place(std::size_t index) const {
  for (const std::span<const std::uint32_t>& part : places) {
    if (index < part.size()) {
      return part[index];
    }
    index -= part.size();
  }
  POSTRIDER_ASSERT(false);
  return 0;
}

std::vector<WebhookRef> Directory::match(const Event& event) const {
  std::vector<WebhookRef> result;
  const MatchCandidates found = candidates(event);
  for (const std::span<const std::uint32_t>& part : found.places) {
    for (const std::uint32_t place : part) {
      const WebhookRef& webhook = (*found.webhooks)[place];
      if (wants(*webhook, event)) {
        result.push_back(webhook);
      }
    }
  }
  std::ranges::sort(result, {}, [](const WebhookRef& webhook) { return webhook->id; });
  return result;
}

std::map<WebhookId, WebhookRef> Directory::webhooks_of(const TenantId& tenant_id) const {
  const auto found = tenants_.find(tenant_id);
  return found == tenants_.end() ? std::map<WebhookId, WebhookRef>{} : found->second->webhooks;
}

void Directory::rebuild(const TenantId& tenant_id, std::map<WebhookId, WebhookRef> webhooks) {
  if (webhooks.empty()) {
    tenants_.erase(tenant_id);
    return;
  }
  auto tenant = std::make_shared<Tenant>();
  for (const auto& [id, webhook] : webhooks) {
    tenant->add(webhook);
  }
  tenant->webhooks = std::move(webhooks);
  tenants_[tenant_id] = std::move(tenant);
}

void Directory::Tenant::add(const WebhookRef& webhook) {
  const auto place = static_cast<std::uint32_t>(in_order.size());
  in_order.push_back(webhook);
  if (const std::optional<std::string>& resource = webhook->resource_id) {
    by_resource[*resource].push_back(place);
    return;
  }
  if (std::ranges::any_of(webhook->events, has_wildcard)) {
    wildcards.push_back(place);
    return;
  }
  std::set<std::string_view> types;  // A type may be listed twice.
  for (const EventPattern& pattern : webhook->events) {
    if (types.insert(pattern.text()).second) {
      by_type[pattern.text()].push_back(place);
    }
  }
}

}  // namespace postrider
