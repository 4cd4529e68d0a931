// A store in memory, for tests and the simulation: the same promises as on disk, except the disk.
//
// MemoryStore is a value. Copying it is taking a picture of everything that is stored, which is how
// the simulation models what a crash leaves behind. The ports made from it refer to it; it must
// outlive them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/attempt.h"
#include "core/model/event.h"
#include "core/model/webhook.h"
#include "ports/store.h"

namespace postrider {

/// A mutex that does not keep its owner from being copied: every copy has its own.
class OwnMutex {
 public:
  OwnMutex() = default;
  OwnMutex(const OwnMutex&) {}
  OwnMutex& operator=(const OwnMutex&) { return *this; }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

struct MemoryClaim {
  std::int64_t event_sequence = 0;
  std::string body_digest;
  WallTime expires_at;
};

struct MemoryKeyUse {
  KeyUse use;
  WallTime expires_at;
};

struct MemoryEvent {
  std::shared_ptr<const Event> event;  // Shared, so that copying a store does not copy payloads.
  std::vector<std::int64_t> deliveries;
  std::vector<std::int64_t> late;  // Deliveries that came after the publish.
};

struct MemoryStore {
  std::int64_t next_sequence = 1;
  std::map<std::int64_t, MemoryEvent> events;
  std::unordered_map<EventId, std::int64_t> event_sequences;
  std::map<std::int64_t, DeliveryRecord> deliveries;
  std::unordered_map<DeliveryId, std::int64_t> delivery_sequences;
  std::map<WebhookId, std::set<std::int64_t>> waiting;  // No entry for a webhook without any.
  std::map<std::pair<std::int64_t, std::uint32_t>, Attempt> attempts;          // (delivery, number)
  std::map<std::pair<std::int64_t, std::uint32_t>, RequestShapeRef> requests;  // No nulls.
  std::map<WebhookId, std::vector<std::pair<std::int64_t, std::uint32_t>>> attempts_recorded;
  std::map<WebhookId, WallTime> last_success_at;  // Of an attempt, whether it is still kept or not.
  std::map<WebhookId, WallTime> last_failure_at;
  std::map<std::pair<TenantId, std::string>, MemoryClaim> claims;  // (tenant, key)

  std::map<std::pair<std::int64_t, TenantId>, DeliveryTally> tenant_tallies;  // (span, tenant)
  std::map<std::tuple<std::int64_t, WebhookId, TenantId>, DeliveryTally> webhook_tallies;

  std::map<WebhookId, Webhook> webhooks;
  std::map<WebhookId, CircuitRecord> circuits;
  std::set<WebhookId> rescheduling;  // See Catalog::mark_rescheduling.
  std::map<KeyId, ApiKey> api_keys;
  std::map<TenantSerial, RegisteredTenant> tenants;
  std::map<std::string, PortalLink> links;  // By their hash.

  std::vector<AuditRecord> audit;
  Digest digest = nullptr;  // Given by who wants an audit log.
  std::map<std::string, EventType> event_types;
  std::map<OperationId, Operation> operations;
  std::map<std::pair<std::string, std::string>, MemoryKeyUse> request_keys;  // (caller, key)
  std::map<std::int64_t, Alert> alerts;                                      // By their sequence.

  OwnMutex
      mutex;  // Held during each call of a port. Whoever looks in directly does so between calls.
};

/// Every role over one store. `atomically` undoes nothing: the roles that take part in it fail only
/// before they change anything.
[[nodiscard]] Store make_memory_store(MemoryStore& store);
[[nodiscard]] Reader make_memory_reader(MemoryStore& store);

[[nodiscard]] std::unique_ptr<Ledger> make_memory_ledger(MemoryStore& store);
[[nodiscard]] std::unique_ptr<Catalog> make_memory_catalog(MemoryStore& store);
[[nodiscard]] std::unique_ptr<EventTypes> make_memory_event_types(MemoryStore& store);
[[nodiscard]] std::unique_ptr<History> make_memory_history(MemoryStore& store);
[[nodiscard]] std::unique_ptr<Registry> make_memory_registry(MemoryStore& store);
[[nodiscard]] std::unique_ptr<AuditWriter> make_memory_audit_writer(MemoryStore& store);
[[nodiscard]] std::unique_ptr<AuditReader> make_memory_audit_reader(MemoryStore& store);
[[nodiscard]] std::unique_ptr<Stats> make_memory_stats(MemoryStore& store);
[[nodiscard]] std::unique_ptr<RetentionReader> make_memory_retention_reader(MemoryStore& store);
[[nodiscard]] std::unique_ptr<RetentionWriter> make_memory_retention_writer(MemoryStore& store);
[[nodiscard]] std::unique_ptr<OperationWriter> make_memory_operation_writer(MemoryStore& store);
[[nodiscard]] std::unique_ptr<OperationReader> make_memory_operation_reader(MemoryStore& store);
[[nodiscard]] std::unique_ptr<RequestKeyWriter> make_memory_request_key_writer(MemoryStore& store);
[[nodiscard]] std::unique_ptr<RequestKeyReader> make_memory_request_key_reader(MemoryStore& store);
[[nodiscard]] std::unique_ptr<AlertWriter> make_memory_alert_writer(MemoryStore& store);
[[nodiscard]] std::unique_ptr<AlertReader> make_memory_alert_reader(MemoryStore& store);

}  // namespace postrider
