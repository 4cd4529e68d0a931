#include "engine/admin/access_snapshot.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace postrider {
namespace {

bool is_permanent_admin(const ApiKey& key) {
  return key.scope == KeyScope::admin && !key.expires_at;
}

bool is_expired_session(const ApiKey& key, WallTime now) {
  return key.portal_session && key.expires_at && *key.expires_at <= now;
}

}  // namespace

/// Applies one change to a copy of the snapshot.
class AccessSnapshot::Editor {
 public:
  Editor(AccessSnapshot& access, WallTime now) : access_(access), now_(now) {}

  Result<void> operator()(const AddKey& add) const {
    access_.put(std::make_shared<const AccessKey>(add.key));
    return {};
  }

  Result<void> operator()(const RemoveKey& remove) const {
    const KeyRef key = access_.find_key(remove.id);
    if (key == nullptr) {
      return fail(Errc::not_found, "There is no such API key.");
    }
    const auto permanent = std::ranges::count_if(
        access_.keys_, [](const auto& item) { return is_permanent_admin(item.second->key()); });
    if (is_permanent_admin(key->key()) && permanent == 1) {
      return fail(Errc::conflict,
                  "This is the last admin key that does not expire; create another one first.");
    }
    access_.erase_key(remove.id);
    return {};
  }

  Result<void> operator()(const NoteKeyUses&) const { return {}; }  // Kept in ApiKeyUse.

  Result<void> operator()(const AddTenant& add) const {
    if (access_.find_tenant(add.tenant.id) != nullptr) {
      return fail(Errc::conflict, "A tenant with this id already exists.");
    }
    access_.put(std::make_shared<const RegisteredTenant>(add.tenant));
    return {};
  }

  Result<void> operator()(const SetLimits& set) const {
    return edit_tenant(set.tenant_id, [&](RegisteredTenant& tenant) {
      tenant.limits = changed_limits(tenant.limits, set.change);
    });
  }

  Result<void> operator()(const SuspendTenant& suspend) const {
    return edit_tenant(suspend.tenant_id, [&](RegisteredTenant& tenant) {
      if (!tenant.suspended_at) {
        tenant.suspended_at = suspend.at;
        tenant.suspended_reason = suspend.reason;
      }
    });
  }

  Result<void> operator()(const ResumeTenant& resume) const {
    return edit_tenant(resume.tenant_id, [](RegisteredTenant& tenant) {
      tenant.suspended_at.reset();
      tenant.suspended_reason.reset();
    });
  }

  Result<void> operator()(const RemoveTenant& remove) const {
    if (access_.find_tenant(remove.tenant_id) == nullptr) {
      return fail(Errc::not_found, "There is no such tenant.");
    }
    access_.erase_tenant(remove.tenant_id);
    std::erase_if(access_.links_,
                  [&](const auto& item) { return item.second.tenant_id == remove.tenant_id; });
    erase_keys([&](const ApiKey& key) {
      return key.scope == KeyScope::tenant && key.tenant_id == remove.tenant_id;
    });
    return {};
  }

  Result<void> operator()(const AddLink& add) const {
    access_.links_.insert_or_assign(add.link.sha256, add.link);
    return {};
  }

  Result<void> operator()(const RedeemLink& redeem) const {
    const PortalLink* link = access_.find_link(redeem.sha256);
    if (link == nullptr || link->expires_at <= now_) {
      return fail(Errc::not_found, "There is no such link.");
    }
    access_.links_.erase(redeem.sha256);
    access_.put(std::make_shared<const AccessKey>(redeem.session));
    return {};
  }

  Result<void> operator()(const SweepExpired& sweep) const {
    std::erase_if(access_.links_,
                  [&](const auto& item) { return item.second.expires_at <= sweep.now; });
    erase_keys([&](const ApiKey& key) { return is_expired_session(key, sweep.now); });
    return {};
  }

 private:
  template <class Edit>
  [[nodiscard]] Result<void> edit_tenant(const TenantId& id, Edit edit) const {
    const TenantRef current = access_.find_tenant(id);
    if (current == nullptr) {
      return fail(Errc::not_found, "There is no such tenant.");
    }
    RegisteredTenant changed = *current;
    edit(changed);
    access_.erase_tenant(id);
    access_.put(std::make_shared<const RegisteredTenant>(std::move(changed)));
    return {};
  }

  template <class Condition>
  void erase_keys(Condition condition) const {
    std::vector<KeyId> ids;
    for (const auto& [id, key] : access_.keys_) {
      if (condition(key->key())) {
        ids.push_back(id);
      }
    }
    for (const KeyId id : ids) {
      access_.erase_key(id);
    }
  }

  AccessSnapshot& access_;
  WallTime now_;
};

AccessSnapshot::AccessSnapshot(RegistryContents contents) {
  for (ApiKey& key : contents.keys) {
    put(std::make_shared<const AccessKey>(std::move(key)));
  }
  for (RegisteredTenant& tenant : contents.tenants) {
    put(std::make_shared<const RegisteredTenant>(std::move(tenant)));
  }
  for (PortalLink& link : contents.links) {
    std::string sha256 = link.sha256;
    links_.emplace(std::move(sha256), std::move(link));
  }
}

Result<AccessSnapshot> AccessSnapshot::with(const RegistryChange& change, WallTime now) const {
  AccessSnapshot copy = *this;
  const Editor editor{copy, now};
  POSTRIDER_CHECK(std::visit(editor, change));
  return copy;
}

AccessSnapshot AccessSnapshot::only(const TenantId& tenant_id) const {
  AccessSnapshot restricted;
  if (TenantRef tenant = find_tenant(tenant_id)) {
    restricted.put(std::move(tenant));
  }
  return restricted;
}

void AccessSnapshot::put(KeyRef key) {
  erase_key(key->key().id);
  keys_by_hash_.insert_or_assign(key->key().sha256, key);
  const KeyId id = key->key().id;
  keys_.insert_or_assign(id, std::move(key));
}

void AccessSnapshot::put(TenantRef tenant) {
  event_limits_ += tenant->limits.events_per_minute ? 1 : 0;
  suspensions_ += tenant->suspended_at ? 1 : 0;
  tenants_by_id_.insert_or_assign(tenant->id, tenant);
  const TenantSerial serial = tenant->serial;
  tenants_.insert_or_assign(serial, std::move(tenant));
}

void AccessSnapshot::erase_key(KeyId id) {
  const auto found = keys_.find(id);
  if (found != keys_.end()) {
    keys_by_hash_.erase(found->second->key().sha256);
    keys_.erase(found);
  }
}

void AccessSnapshot::erase_tenant(const TenantId& id) {
  const auto found = tenants_by_id_.find(id);
  if (found != tenants_by_id_.end()) {
    event_limits_ -= found->second->limits.events_per_minute ? 1 : 0;
    suspensions_ -= found->second->suspended_at ? 1 : 0;
    tenants_.erase(found->second->serial);
    tenants_by_id_.erase(found);
  }
}

KeyRef AccessSnapshot::find_key(const std::string& sha256) const {
  const auto found = keys_by_hash_.find(sha256);
  return found == keys_by_hash_.end() ? nullptr : found->second;
}

KeyRef AccessSnapshot::find_key(KeyId id) const {
  const auto found = keys_.find(id);
  return found == keys_.end() ? nullptr : found->second;
}

TenantRef AccessSnapshot::find_tenant(const TenantId& id) const {
  const auto found = tenants_by_id_.find(id);
  return found == tenants_by_id_.end() ? nullptr : found->second;
}

const PortalLink* AccessSnapshot::find_link(const std::string& sha256) const {
  const auto found = links_.find(sha256);
  return found == links_.end() ? nullptr : &found->second;
}

TenantLimits AccessSnapshot::limits_of(const TenantId& id) const {
  const TenantRef tenant = find_tenant(id);
  return tenant == nullptr ? TenantLimits{} : tenant->limits;
}

bool AccessSnapshot::is_suspended(const TenantId& id) const {
  if (suspensions_ == 0) {
    return false;  // The usual case: publishing needs no look-up.
  }
  const TenantRef tenant = find_tenant(id);
  return tenant != nullptr && tenant->suspended_at.has_value();
}

bool AccessSnapshot::has_expired(WallTime now) const {
  return std::ranges::any_of(links_,
                             [now](const auto& item) { return item.second.expires_at <= now; }) ||
         std::ranges::any_of(keys_, [now](const auto& item) {
           return is_expired_session(item.second->key(), now);
         });
}

}  // namespace postrider
