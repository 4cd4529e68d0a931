// Which deliveries or events a list or an operation is about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/model/delivery.h"
#include "core/model/event.h"

namespace postrider {

/// Empty lists and nullopts do not restrict.
struct DeliveryFilter {
  std::optional<TenantId> tenant_id;
  std::vector<WebhookId> webhook_ids;
  std::optional<EventId> event_id;
  std::optional<std::string> resource_id = std::nullopt;  // Of the event.
  std::vector<DeliveryState> states;
  /// Also deliveries in no requested state that wait for a webhook whose stored circuit is not
  /// closed. Not part of a stored operation.
  bool circuit_blocked = false;
  std::vector<std::string> event_types;             // As in core/filter/event_type_filter.h.
  std::vector<FailureCategory> failure_categories;  // Of the latest attempt.
  std::optional<Classification> classification;     // Of dead letters.
  std::optional<WallTime> from;  // created_at; completed_at if only dead letters are listed.
  std::optional<WallTime> to;    // Exclusive.

  bool operator==(const DeliveryFilter&) const = default;
};

[[nodiscard]] inline bool lists_dead_letters(const DeliveryFilter& filter) {
  return filter.states.size() == 1 && filter.states.front() == DeliveryState::dead_letter &&
         !filter.circuit_blocked;
}

/// Empty lists and nullopts do not restrict.
struct EventFilter {
  std::optional<TenantId> tenant_id;
  std::vector<std::string> types;               // As in core/filter/event_type_filter.h.
  std::optional<WallTime> from = std::nullopt;  // created_at
  std::optional<WallTime> to = std::nullopt;    // Exclusive.
  std::optional<bool> matched = std::nullopt;   // Whether the event has any delivery.
  std::optional<std::string> resource_id = std::nullopt;
};

}  // namespace postrider
