#include "adapters/memory/memory_store.h"

namespace postrider {

Store make_memory_store(MemoryStore& store) {
  return {.ledger = make_memory_ledger(store),
          .catalog = make_memory_catalog(store),
          .event_types = make_memory_event_types(store),
          .registry = make_memory_registry(store),
          .journal = make_memory_journal(store),
          .alerts = make_memory_alert_book(store),
          .operations = make_memory_operation_book(store),
          .request_keys = make_memory_request_keys(store),
          .removal = make_memory_removal(store),
          .atomically = [](const auto& body) { return body(); }};
}

Reader make_memory_reader(MemoryStore& store) {
  return {.history = make_memory_history(store),
          .audit_log = make_memory_audit_log(store),
          .alerts = make_memory_alert_history(store),
          .operations = make_memory_operation_list(store),
          .used_keys = make_memory_used_keys(store),
          .stats = make_memory_stats(store),
          .attic = make_memory_attic(store)};
}

}  // namespace postrider
