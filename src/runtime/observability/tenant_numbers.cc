#include "runtime/observability/tenant_numbers.h"

#include <algorithm>

namespace postrider {
namespace {

void add_to(CurrentLoad& sum, const CurrentLoad& change) {
  sum.waiting += change.waiting;
  sum.in_flight += change.in_flight;
  sum.dead_letters += change.dead_letters;
  sum.open_circuits += change.open_circuits;
}

/// The store counts an attempt as waiting until it is settled. Both numbers come from different
/// threads, so their difference may be negative for a moment.
CurrentLoad without_in_flight(CurrentLoad load) {
  load.waiting = std::max<std::int64_t>(load.waiting - load.in_flight, 0);
  return load;
}

}  // namespace

void TenantNumbers::set_waiting(const TenantCounts& waiting) {
  clear(&CurrentLoad::waiting);
  add_waiting(waiting);
}

void TenantNumbers::add_waiting(const TenantCounts& change) {
  for (const auto& [tenant_id, counts] : change.tenants) {
    add(tenant_id, {.waiting = counts.total()});
  }
}

void TenantNumbers::remove_waiting(const TenantCounts& removed) {
  for (const auto& [tenant_id, counts] : removed.tenants) {
    add(tenant_id, {.waiting = -counts.total()});
  }
}

void TenantNumbers::add_loads(const TenantLoadChanges& changes) {
  for (const auto& [tenant_id, change] : changes) {
    add(tenant_id, {.in_flight = change.in_flight, .open_circuits = change.open_circuits});
  }
}

void TenantNumbers::set_dead_letters(const std::map<TenantId, std::uint64_t>& counts) {
  clear(&CurrentLoad::dead_letters);
  for (const auto& [tenant_id, count] : counts) {
    add(tenant_id, {.dead_letters = static_cast<std::int64_t>(count)});
  }
}

std::int64_t TenantNumbers::add_dead_letters(const TenantId& tenant_id, std::int64_t change) {
  const std::int64_t made = std::max(change, -of(tenant_id).dead_letters);
  add(tenant_id, {.dead_letters = made});
  return made;
}

CurrentLoad TenantNumbers::of(const TenantId& tenant_id) const {
  const auto found = tenants_.find(tenant_id);
  return found == tenants_.end() ? CurrentLoad{} : without_in_flight(found->second);
}

CurrentLoad TenantNumbers::total() const { return without_in_flight(total_); }

std::map<TenantId, std::int64_t> TenantNumbers::dead_letters_over(std::int64_t max) const {
  std::map<TenantId, std::int64_t> over;
  for (const auto& [tenant_id, load] : tenants_) {
    if (load.dead_letters > max) {
      over.emplace(tenant_id, load.dead_letters);
    }
  }
  return over;
}

void TenantNumbers::clear(std::int64_t CurrentLoad::* number) {
  for (auto& [tenant_id, load] : tenants_) {
    load.*number = 0;
  }
  total_.*number = 0;
  std::erase_if(tenants_, [](const auto& each) { return each.second == CurrentLoad{}; });
}

void TenantNumbers::add(const TenantId& tenant_id, const CurrentLoad& change) {
  add_to(total_, change);
  const auto found = tenants_.try_emplace(tenant_id).first;
  add_to(found->second, change);
  if (found->second == CurrentLoad{}) {
    tenants_.erase(found);
  }
}

}  // namespace postrider
