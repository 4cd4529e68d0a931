// Helpers that the memory store's ports share: finding and replacing a delivery and its index
// entries, looking up times and calls, and appending to the audit log. Hold the store's mutex.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "ports/audit_chain.h"
#include "ports/settlement_rule.h"

#include "adapters/memory/memory_store.h"

namespace postrider {

/// Returns null if there is none. Valid until the store changes.
[[nodiscard]] inline const DeliveryRecord* find(const MemoryStore& store, DeliveryId id) {
  const auto found = store.delivery_sequences.find(id);
  return found == store.delivery_sequences.end() ? nullptr : &store.deliveries.at(found->second);
}

/// The record with its latest attempt.
[[nodiscard]] inline DeliveryRecord complete(const MemoryStore& store, DeliveryRecord record) {
  const auto row = store.attempts.find({record.delivery.sequence, record.delivery.attempt_count});
  if (row != store.attempts.end()) {
    const Outcome& outcome = row->second.outcome;
    record.last_attempt = {.executed_at = outcome.executed_at,
                           .duration = outcome.duration,
                           .error_message = outcome.error_message};
  }
  return record;
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

/// The operation that counts the outcome of the delivery, or none.
[[nodiscard]] inline std::optional<OperationId> operation_of(const MemoryStore& store,
                                                             const Delivery& delivery) {
  return delivery.in_operation ? std::optional{store.operation_of.at(delivery.sequence)}
                               : std::nullopt;
}

inline void mark_cancelled(MemoryStore& store, DeliveryRecord& record, WallTime now,
                           OutcomeChanges& outcomes) {
  if (const auto operation = operation_of(store, record.delivery);
      operation && is_waiting(record.delivery.state)) {
    outcomes[*operation].add(DeliveryState::cancelled, now);
  }
  record.delivery = cancelled(std::move(record.delivery));
  record.updated_at = now;
  record.completed_at = now;
}

/// Operations that are no longer stored are left out.
inline void add_to_operations(MemoryStore& store, const OutcomeChanges& outcomes) {
  for (const auto& [id, change] : outcomes) {
    const auto found = store.operations.find(id);
    if (found != store.operations.end()) {
      found->second = add_outcomes(std::move(found->second), change);
    }
  }
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

/// See Ledger::recent_calls.
[[nodiscard]] inline std::vector<PastCall> recent_calls(const MemoryStore& store, WebhookId id,
                                                        const CallsToRestore& which) {
  std::vector<PastCall> calls;
  const auto recorded = store.attempts_recorded.find(id);
  if (recorded == store.attempts_recorded.end()) {
    return calls;
  }
  for (auto key = recorded->second.rbegin();
       key != recorded->second.rend() && calls.size() < which.limit; ++key) {
    const Attempt& attempt = store.attempts.at(*key);
    const WallTime began = attempt.outcome.executed_at;
    const WallTime ended =
        later(began, std::chrono::duration_cast<Millis>(attempt.outcome.duration));
    if (ended < which.since && calls.size() >= which.count_min) {
      break;
    }
    calls.push_back({.began = began,
                     .ended = ended,
                     .failed = attempt.failure_category.has_value(),
                     .timed_out = attempt.failure_category == FailureCategory::timeout});
  }
  std::ranges::reverse(calls);
  return calls;
}

}  // namespace postrider
