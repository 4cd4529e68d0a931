#include <mutex>
#include <variant>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

class MemoryRegistry final : public Registry {
 public:
  explicit MemoryRegistry(MemoryStore& store) : store_(store) {}

  Result<RegistryContents> load() override {
    const std::lock_guard guard{store_.mutex};
    RegistryContents contents;
    for (const auto& [id, key] : store_.api_keys) {
      contents.keys.push_back(key);
    }
    for (const auto& [serial, tenant] : store_.tenants) {
      contents.tenants.push_back(tenant);
    }
    for (const auto& [sha256, link] : store_.links) {
      contents.links.push_back(link);
    }
    for (const auto& [id, session] : store_.sessions) {
      contents.sessions.push_back(session);
    }
    return contents;
  }

  Result<void> apply(const RegistryChange& change) override {
    const std::lock_guard guard{store_.mutex};
    return std::visit([this](const auto& each) { return perform(each); }, change);
  }

 private:
  template <class Edit>
  Result<void> edit(const TenantId& id, Edit change) {
    for (auto& [serial, tenant] : store_.tenants) {
      if (tenant.id == id) {
        change(tenant);
      }
    }
    return {};
  }

  void erase_offspring(KeyId parent) {
    std::erase_if(store_.links, [&](const auto& item) { return item.second.created_by == parent; });
    std::erase_if(store_.sessions,
                  [&](const auto& item) { return item.second.session->parent == parent; });
  }

  Result<void> perform(const AddKey& add) {
    erase_offspring(add.key.id);
    store_.api_keys.insert_or_assign(add.key.id, add.key);
    return {};
  }

  Result<void> perform(const RemoveKey& remove) {
    erase_offspring(remove.id);
    store_.api_keys.erase(remove.id);
    return {};
  }

  Result<void> perform(const NoteKeyUses& note) {
    for (const auto& [id, at] : note.uses) {
      if (const auto found = store_.api_keys.find(id); found != store_.api_keys.end()) {
        found->second.last_used_at = at;
      }
    }
    return {};
  }

  Result<void> perform(const AddTenant& add) {
    std::erase_if(store_.tenants,
                  [&](const auto& item) { return item.second.id == add.tenant.id; });
    store_.tenants.insert_or_assign(add.tenant.serial, add.tenant);
    return {};
  }

  Result<void> perform(const SetLimits& set) {
    return edit(set.tenant_id, [&](RegisteredTenant& tenant) {
      tenant.limits = changed_limits(tenant.limits, set.change);
    });
  }

  Result<void> perform(const SetContacts& set) {
    return edit(set.tenant_id, [&](RegisteredTenant& tenant) { tenant.contacts = set.contacts; });
  }

  Result<void> perform(const SuspendTenant& suspend) {
    return edit(suspend.tenant_id, [&](RegisteredTenant& tenant) {
      if (!tenant.suspended_at) {
        tenant.suspended_at = suspend.at;
        tenant.suspended_reason = suspend.reason;
      }
    });
  }

  Result<void> perform(const ResumeTenant& resume) {
    return edit(resume.tenant_id, [](RegisteredTenant& tenant) {
      tenant.suspended_at.reset();
      tenant.suspended_reason.reset();
    });
  }

  Result<void> perform(const RemoveTenant& remove) {
    const TenantId& id = remove.tenant_id;
    std::erase_if(store_.tenants, [&](const auto& item) { return item.second.id == id; });
    const auto is_theirs = [&](const auto& item) {
      return item.second.scope == KeyScope::tenant && item.second.tenant_id == id;
    };
    std::erase_if(store_.links, is_theirs);
    std::erase_if(store_.sessions, is_theirs);
    std::erase_if(store_.api_keys, is_theirs);
    return {};
  }

  Result<void> perform(const AddLink& add) {
    store_.links.insert_or_assign(add.link.sha256, add.link);
    return {};
  }

  Result<void> perform(const RedeemLink& redeem) {
    if (store_.links.erase(redeem.sha256) == 0) {
      return fail(Errc::not_found, "There is no such link.");
    }
    return perform(AddSession{redeem.session});
  }

  Result<void> perform(const AddSession& add) {
    store_.sessions.insert_or_assign(add.session.id, add.session);
    return {};
  }

  Result<void> perform(const EndSessions& end) {
    for (const KeyId id : end.ids) {
      store_.sessions.erase(id);
    }
    return {};
  }

  Result<void> perform(const SweepExpired& sweep) {
    std::erase_if(store_.links,
                  [&](const auto& item) { return item.second.expires_at <= sweep.now; });
    std::erase_if(store_.sessions,
                  [&](const auto& item) { return *item.second.expires_at <= sweep.now; });
    return {};
  }

  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<Registry> make_memory_registry(MemoryStore& store) {
  return std::make_unique<MemoryRegistry>(store);
}

}  // namespace postrider
