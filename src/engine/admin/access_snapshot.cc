#include "engine/admin/access_snapshot.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace postrider {
namespace {

bool is_permanent_admin(const ApiKey& key) {
  return key.scope == KeyScope::admin && !key.expires_at;
}

bool has_ended(const ApiKey& key, WallTime now) { return key.expires_at && *key.expires_at <= now; }

bool belongs_to(const ApiKey& key, const TenantId& tenant_id) {
  return key.scope == KeyScope::tenant && key.tenant_id == tenant_id;
}

}  // namespace

/// Applies one change to a copy of the snapshot.
class AccessSnapshot::Editor {
 public:
  Editor(AccessSnapshot& access, WallTime now) : access_(access), now_(now) {}

  Result<void> operator()(const AddKey& add) const {
    if (add.keys_max && access_.keys_of(add.key.tenant_id).size() >= *add.keys_max) {
      return fail(Errc::conflict, fmt::format("The tenant's limit of API keys ({}) is reached. "
                                              "Delete one first.",
                                              *add.keys_max));
    }
    erase_offspring(add.key.id);
    access_.keys_.put(std::make_shared<const AccessKey>(add.key));
    return {};
  }

  Result<void> operator()(const RemoveKey& remove) const {
    const KeyRef key = access_.find_key(remove.id);
    if (key == nullptr) {
      return fail(Errc::not_found, "There is no such API key.");
    }
    const auto permanent = std::ranges::count_if(
        access_.keys(), [](const auto& item) { return is_permanent_admin(item.second->key()); });
    if (is_permanent_admin(key->key()) && permanent == 1) {
      return fail(Errc::conflict,
                  "This is the last admin key that does not expire; create another one first.");
    }
    erase_offspring(remove.id);
    access_.keys_.erase(remove.id);
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

  Result<void> operator()(const SetContacts& set) const {
    return edit_tenant(set.tenant_id,
                       [&](RegisteredTenant& tenant) { tenant.contacts = set.contacts; });
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
    std::erase_if(access_.links_, [&](const auto& item) {
      const SignInLink& link = item.second;
      return link.scope == KeyScope::tenant && link.tenant_id == remove.tenant_id;
    });
    const auto is_theirs = [&](const ApiKey& key) { return belongs_to(key, remove.tenant_id); };
    access_.keys_.erase_if(is_theirs);
    access_.sessions_.erase_if(is_theirs);
    return {};
  }

  Result<void> operator()(const AddLink& add) const {
    POSTRIDER_CHECK(check_parent(add.link.created_by));
    access_.links_.insert_or_assign(add.link.sha256, add.link);
    return {};
  }

  Result<void> operator()(const RedeemLink& redeem) const {
    const SignInLink* link = access_.find_link(redeem.sha256);
    if (link == nullptr || link->expires_at <= now_) {
      return fail(Errc::not_found, "There is no such link.");
    }
    access_.links_.erase(redeem.sha256);
    return (*this)(AddSession{redeem.session});
  }

  Result<void> operator()(const AddSession& add) const {
    POSTRIDER_ASSERT(add.session.session && add.session.expires_at);
    POSTRIDER_CHECK(check_parent(add.session.session->parent));
    access_.sessions_.put(std::make_shared<const AccessKey>(add.session));
    return {};
  }

  Result<void> operator()(const EndSessions& end) const {
    for (const KeyId id : end.ids) {
      access_.sessions_.erase(id);
    }
    return {};
  }

  Result<void> operator()(const SweepExpired& sweep) const {
    std::erase_if(access_.links_,
                  [&](const auto& item) { return item.second.expires_at <= sweep.now; });
    access_.sessions_.erase_if([&](const ApiKey& key) { return has_ended(key, sweep.now); });
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

  [[nodiscard]] Result<void> check_parent(KeyId id) const {
    const KeyRef parent = access_.find_key(id);
    if (parent == nullptr || has_ended(parent->key(), now_)) {
      return fail(Errc::not_found, "There is no such API key.");
    }
    return {};
  }

  /// Removes what was made with a key.
  void erase_offspring(KeyId parent) const {
    std::erase_if(access_.links_,
                  [&](const auto& item) { return item.second.created_by == parent; });
    access_.sessions_.erase_if([&](const ApiKey& key) { return key.session->parent == parent; });
  }

  AccessSnapshot& access_;
  WallTime now_;
};

AccessSnapshot::AccessSnapshot(RegistryContents contents) {
  for (ApiKey& key : contents.keys) {
    keys_.put(std::make_shared<const AccessKey>(std::move(key)));
  }
  for (ApiKey& session : contents.sessions) {
    sessions_.put(std::make_shared<const AccessKey>(std::move(session)));
  }
  for (RegisteredTenant& tenant : contents.tenants) {
    put(std::make_shared<const RegisteredTenant>(std::move(tenant)));
  }
  for (SignInLink& link : contents.links) {
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

void AccessSnapshot::KeyTable::put(KeyRef key) {
  const KeyId id = key->key().id;
  erase(id);
  by_hash_.insert_or_assign(key->key().sha256, key);
  by_id_.insert_or_assign(id, std::move(key));
}

void AccessSnapshot::KeyTable::erase(KeyId id) {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) {
    by_hash_.erase(found->second->key().sha256);
    by_id_.erase(found);
  }
}

template <class Condition>
void AccessSnapshot::KeyTable::erase_if(Condition condition) {
  for (auto item = by_id_.begin(); item != by_id_.end();) {
    const ApiKey& key = item->second->key();
    if (condition(key)) {
      by_hash_.erase(key.sha256);
      item = by_id_.erase(item);
    } else {
      ++item;
    }
  }
}

KeyRef AccessSnapshot::KeyTable::find(const std::string& sha256) const {
  const auto found = by_hash_.find(sha256);
  return found == by_hash_.end() ? nullptr : found->second;
}

KeyRef AccessSnapshot::KeyTable::find(KeyId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

void AccessSnapshot::put(TenantRef tenant) {
  event_limits_ += tenant->limits.events_per_minute ? 1 : 0;
  suspensions_ += tenant->suspended_at ? 1 : 0;
  tenants_by_id_.insert_or_assign(tenant->id, tenant);
  const TenantSerial serial = tenant->serial;
  tenants_.insert_or_assign(serial, std::move(tenant));
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

KeyRef AccessSnapshot::find_caller(KeyId id) const {
  const KeyRef key = find_key(id);
  return key != nullptr ? key : find_session(id);
}

TenantRef AccessSnapshot::find_tenant(const TenantId& id) const {
  const auto found = tenants_by_id_.find(id);
  return found == tenants_by_id_.end() ? nullptr : found->second;
}

const SignInLink* AccessSnapshot::find_link(const std::string& sha256) const {
  const auto found = links_.find(sha256);
  return found == links_.end() ? nullptr : &found->second;
}

std::map<KeyId, KeyRef> AccessSnapshot::keys_of(const TenantId& tenant_id) const {
  std::map<KeyId, KeyRef> theirs;
  for (const auto& [id, key] : keys()) {
    if (belongs_to(key->key(), tenant_id)) {
      theirs.emplace_hint(theirs.end(), id, key);
    }
  }
  return theirs;
}

std::vector<KeyId> AccessSnapshot::surplus_sessions(const ApiKey& session) const {
  std::vector<KeyId> alike;  // Oldest first: ids contain the time.
  for (const auto& [id, other] : sessions_.by_id()) {
    if (other->key().session->parent == session.session->parent &&
        other->key().tenant_id == session.tenant_id) {
      alike.push_back(id);
    }
  }
  alike.resize(alike.size() - std::min(alike.size(), sessions_max));
  return alike;
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
         std::ranges::any_of(sessions_.by_id(), [now](const auto& item) {
           return has_ended(item.second->key(), now);
         });
}

}  // namespace postrider
