// Stores the catalogue of event types: a small table, read at startup and kept in memory.
//
// The specification is tests/contract/event_types_contract.cc. Calls block. Store thread only.
// Every call fails with unavailable after a failed commit; see Ledger::recover.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/event_type.h"

namespace postrider {

class EventTypes {
 public:
  virtual ~EventTypes() = default;

  /// In name order.
  [[nodiscard]] virtual Result<std::vector<EventType>> load() = 0;
  /// Adds or replaces. Durable when it returns, like every change here.
  [[nodiscard]] virtual Result<void> put(const EventType& type) = 0;
  /// Fails with not_found.
  [[nodiscard]] virtual Result<void> remove(const std::string& name) = 0;

 protected:
  EventTypes() = default;
  EventTypes(const EventTypes&) = default;
  EventTypes& operator=(const EventTypes&) = default;
};

}  // namespace postrider
