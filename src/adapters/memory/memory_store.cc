#include "adapters/memory/memory_store.h"

namespace postrider {

Store make_memory_store(MemoryStore& store) {
  return {.ledger = make_memory_ledger(store),
          .catalog = make_memory_catalog(store),
          .event_types = make_memory_event_types(store),
          .atomically = [](const auto& body) { return body(); }};
}

Reader make_memory_reader(MemoryStore& store) { return {.history = make_memory_history(store)}; }

}  // namespace postrider
