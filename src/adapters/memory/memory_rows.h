// Helpers that the memory store's ports share: finding and replacing a delivery and its index
// entries, looking up times, and appending to the audit log. Hold the store's mutex.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "core/base/assert.h"
#include "ports/audit_chain.h"

#include "adapters/memory/memory_store.h"

namespace postrider {

/// Returns null if there is none. Valid until the store changes.
[[nodiscard]] inline const DeliveryRecord* find(const MemoryStore& store, DeliveryId id) {
  const auto found = store.delivery_sequences.find(id);
  return found == store.delivery_sequences.end() ? nullptr : &store.deliveries.at(found->second);
}

/// Adds or replaces the record and updates the index of waiting deliveries.
inline void put(MemoryStore& store, DeliveryRecord record) {
  const Delivery& delivery = record.delivery;
  if (is_waiting(delivery.state)) {
    store.waiting[delivery.webhook_id].insert(delivery.sequence);
  } else if (const auto lane = store.waiting.find(delivery.webhook_id);
             lane != store.waiting.end()) {
    lane->second.erase(delivery.sequence);
    if (lane->second.empty()) {
      store.waiting.erase(lane);
    }
  }
  const std::int64_t sequence = delivery.sequence;
  store.deliveries.insert_or_assign(sequence, std::move(record));
}

inline void mark_cancelled(DeliveryRecord& record, WallTime now) {
  record.delivery.state = DeliveryState::cancelled;
  record.updated_at = now;
  record.completed_at = now;
}

[[nodiscard]] inline std::optional<WallTime> find_time(const std::map<WebhookId, WallTime>& times,
                                                       WebhookId id) {
  const auto found = times.find(id);
  return found == times.end() ? std::nullopt : std::optional{found->second};
}

inline void append_audit(MemoryStore& store, const AuditEntry& entry) {
  POSTRIDER_ASSERT(store.digest != nullptr);
  const AuditRecord last = store.audit.empty() ? AuditRecord{} : store.audit.back();
  store.audit.push_back(chain_entry(last, entry, store.digest));
}

}  // namespace postrider
