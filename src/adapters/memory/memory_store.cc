#include "adapters/memory/memory_store.h"

namespace postrider {

Store make_memory_store(MemoryStore& store) {
  return {.ledger = make_memory_ledger(store),
          .catalog = make_memory_catalog(store),
          .event_types = make_memory_event_types(store),
          .registry = make_memory_registry(store),
          .audit = make_memory_audit_writer(store),
          .alerts = make_memory_alert_writer(store),
          .notifications = make_memory_notification_writer(store),
          .operations = make_memory_operation_writer(store),
          .request_keys = make_memory_request_key_writer(store),
          .retention = make_memory_retention_writer(store),
          .source_rows = make_memory_source_row_writer(store),
          .atomically = [](const auto& body) { return body(); }};
}

Reader make_memory_reader(MemoryStore& store) {
  return {.history = make_memory_history(store),
          .audit = make_memory_audit_reader(store),
          .alerts = make_memory_alert_reader(store),
          .notifications = make_memory_notification_reader(store),
          .operations = make_memory_operation_reader(store),
          .request_keys = make_memory_request_key_reader(store),
          .stats = make_memory_stats(store),
          .retention = make_memory_retention_reader(store),
          .source_rows = make_memory_source_row_reader(store)};
}

}  // namespace postrider
