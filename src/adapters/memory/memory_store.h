// A store in memory, for tests and the simulation. It passes the same contract suites as the SQLite
// store, but is not durable.
//
// MemoryStore is a value. A copy is a snapshot of everything stored; the simulation uses copies to
// model crashes. The store must outlive the ports made from it.
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

/// A mutex member that allows its owner to be copied. Every copy has its own mutex.
class CopyableMutex {
 public:
  CopyableMutex() = default;
  CopyableMutex(const CopyableMutex&) {}
  CopyableMutex& operator=(const CopyableMutex&) { return *this; }

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
  std::vector<std::int64_t> late;  // Late deliveries, and those made from a note.
  std::uint32_t fanned_out = 0;    // See Accepted.
};

/// The note of an event whose deliveries are not all made.
struct MemoryFanout {
  Fanout fanout;
  std::size_t place = 0;        // The webhook of the list that is next.
  std::uint32_t remaining = 0;  // The chosen webhooks from `place` on.
};

struct MemoryRemovedWebhook {
  TenantId tenant_id;
  WallTime removed_at;
};

struct MemorySourceRow {
  std::int64_t event_sequence = 0;
  std::uint32_t generation = 0;
  std::uint32_t revision = 0;
  bool settled = false;
};

struct MemoryStore {
  std::int64_t next_sequence = 1;
  std::map<std::int64_t, MemoryEvent> events;
  std::unordered_map<EventId, std::int64_t> event_sequences;
  std::map<std::int64_t, DeliveryRecord> deliveries;
  std::unordered_map<DeliveryId, std::int64_t> delivery_sequences;
  std::map<WebhookId, std::set<std::int64_t>> waiting;                         // No empty sets.
  std::map<std::pair<std::int64_t, std::uint32_t>, Attempt> attempts;          // (delivery, number)
  std::map<std::pair<std::int64_t, std::uint32_t>, RequestShapeRef> requests;  // No nulls.
  std::map<WebhookId, std::vector<std::pair<std::int64_t, std::uint32_t>>> attempts_recorded;
  std::map<WebhookId, WallTime> last_success_at;  // Of all attempts, including removed ones.
  std::map<WebhookId, WallTime> last_failure_at;
  std::map<std::pair<TenantId, std::string>, MemoryClaim> claims;     // (tenant, key)
  std::map<std::pair<TenantId, std::int64_t>, MemoryFanout> fanouts;  // (tenant, event)

  std::map<std::pair<std::int64_t, TenantId>, DeliveryTally> tenant_tallies;  // (span, tenant)
  std::map<std::tuple<std::int64_t, WebhookId, TenantId>, DeliveryTally> webhook_tallies;

  std::map<WebhookId, Webhook> webhooks;
  std::map<WebhookId, MemoryRemovedWebhook> removed_webhooks;
  std::map<WebhookId, CircuitRecord> circuits;
  std::map<std::pair<WebhookId, WallTime>, OpenPeriod> open_periods;  // (webhook, opened_at)
  std::set<WebhookId> rescheduling;  // See Catalog::mark_rescheduling.
  std::map<KeyId, ApiKey> api_keys;
  std::map<TenantSerial, RegisteredTenant> tenants;
  std::map<std::string, SignInLink> links;  // By hash.
  std::map<KeyId, ApiKey> sessions;

  std::vector<AuditRecord> audit;
  Digest digest = nullptr;  // Required to append to the audit log.
  std::map<std::string, EventType> event_types;
  std::map<OperationId, Operation> operations;
  std::map<std::int64_t, OperationId> operation_of;  // The deliveries that are in_operation.
  std::map<std::pair<std::string, std::string>, MemoryKeyUse> request_keys;  // (caller, key)
  std::map<std::int64_t, Alert> alerts;                                      // By sequence.
  std::map<ChannelId, NotificationChannel> channels;
  std::map<std::int64_t, Notification> notifications;  // By sequence.
  std::int64_t next_notification = 1;
  std::map<std::pair<std::string, std::string>, MemorySourceRow> source_rows;  // (source, row)

  /// Held during each call of a port. Access the members above only while no call is running.
  CopyableMutex mutex;
};

/// All roles of one store. `atomically` does not roll back: each role fails before it changes
/// anything, but earlier changes of a failed transaction stay.
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
[[nodiscard]] std::unique_ptr<SourceRowWriter> make_memory_source_row_writer(MemoryStore& store);
[[nodiscard]] std::unique_ptr<SourceRowReader> make_memory_source_row_reader(MemoryStore& store);
[[nodiscard]] std::unique_ptr<AlertWriter> make_memory_alert_writer(MemoryStore& store);
[[nodiscard]] std::unique_ptr<AlertReader> make_memory_alert_reader(MemoryStore& store);
[[nodiscard]] std::unique_ptr<NotificationWriter> make_memory_notification_writer(
    MemoryStore& store);
[[nodiscard]] std::unique_ptr<NotificationReader> make_memory_notification_reader(
    MemoryStore& store);

}  // namespace postrider
