// What is being worked on at the moment, for each tenant and in total. Updated as things happen,
// never by scanning.
//
// Not synchronized: its owner locks.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "core/model/tenant_counts.h"
#include "engine/shard/shard_view.h"

#include "runtime/observability/current_load.h"

namespace postrider {

class TenantNumbers {
 public:
  /// The numbers of waiting deliveries as the store counts them: with those in flight.
  void set_waiting(const TenantCounts& waiting);
  void add_waiting(const TenantCounts& change);
  void remove_waiting(const TenantCounts& removed);
  void add_loads(const TenantLoadChanges& changes);
  /// The numbers of dead letters as the store counts them.
  void set_dead_letters(const std::map<TenantId, std::uint64_t>& counts);
  /// The number does not become negative: another server may have made the dead letters that are
  /// removed here, since they were counted. Returns by how much it changed.
  std::int64_t add_dead_letters(const TenantId& tenant_id, std::int64_t change);

  /// Zeros for an unknown tenant.
  [[nodiscard]] CurrentLoad of(const TenantId& tenant_id) const;
  [[nodiscard]] CurrentLoad total() const;
  /// The tenants with more than `max` dead letters.
  [[nodiscard]] std::map<TenantId, std::int64_t> dead_letters_over(std::int64_t max) const;

 private:
  /// Sets one number of all tenants and of the total to zero.
  void clear(std::int64_t CurrentLoad::* number);
  /// Updates the numbers of the tenant and the total.
  void add(const TenantId& tenant_id, const CurrentLoad& change);

  // `waiting` includes the deliveries in flight.
  std::unordered_map<TenantId, CurrentLoad> tenants_;  // Without zeros.
  CurrentLoad total_;
};

}  // namespace postrider
