// What one publish stores. Plain structs that do not know the engine's classes, so that ports and
// adapters can use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/delivery.h"
#include "core/model/event.h"

namespace postrider {

/// The publisher's idempotency key (P3). Absent if the publisher gave none.
struct IdempotencyClaim {
  std::string key;
  std::string body_digest;  // Of the request. The same key with another digest is an error.
  WallTime expires_at;

  bool operator==(const IdempotencyClaim&) const = default;
};

/// The webhooks that an event goes to, if they are too many for the transaction of its publish. The
/// store keeps this as a note and makes the deliveries from it in small steps: Ledger::fan_out.
struct Fanout {
  std::shared_ptr<const std::vector<WebhookId>> webhooks;  // In id order. May be shared by events.
  std::string chosen;       // One bit per webhook, lowest bit first. Empty: all of them.
  std::uint32_t count = 0;  // Of the chosen webhooks.
  WallTime due;             // Of the deliveries.

  bool operator==(const Fanout& other) const {
    return *webhooks == *other.webhooks && chosen == other.chosen && count == other.count &&
           due == other.due;
  }
};

[[nodiscard]] inline bool is_chosen(const std::string& chosen, std::size_t index) {
  return chosen.empty() ||
         ((static_cast<unsigned char>(chosen[index / 8]) >> (index % 8)) & 1) != 0;
}

/// The row of a source that an event comes from. The store tracks the row, so that its status can
/// be written back: see ports/source_rows.h.
struct SourceRow {
  std::string source;  // The source's name.
  std::string row_id;
  /// How often a final status has been written to the row. A higher number than the tracked one
  /// means that the row was armed again.
  std::uint32_t generation = 0;

  bool operator==(const SourceRow&) const = default;
};

/// Everything one publish commits, in one transaction. The store assigns the sequences.
struct Publish {
  Event event;
  std::vector<Delivery> deliveries;  // Empty if `fanout` is set.
  std::optional<Fanout> fanout = std::nullopt;
  /// Some webhook keeps an order. While the tenant has a note, the deliveries are made from a note
  /// behind it, or they would overtake it (P4).
  bool ordered = false;
  std::optional<IdempotencyClaim> claim;
  /// Adjacent publishes of a batch with the same non-zero group are stored all or none.
  std::uint64_t atomic_group = 0;
  std::optional<SourceRow> row = std::nullopt;
  /// The only webhook that gets the event, whatever it subscribes to. nullopt: those that match.
  std::optional<WebhookId> only_to = std::nullopt;

  bool operator==(const Publish&) const = default;
};

[[nodiscard]] inline Delivery new_delivery(const Event& event, WebhookId webhook_id, DeliveryId id,
                                           WallTime due) {
  return {.id = id,
          .event_id = event.id,
          .webhook_id = webhook_id,
          .sequence = 0,
          .event_type = event.type,
          .priority = event.priority,
          .state = DeliveryState::pending,
          .trigger = Trigger::scheduled,
          .due = due,
          .attempt_count = 0,
          .budget_used = 0,
          .trace = mark_of(event.trace)};
}

/// The deliveries of the event, whenever they are made.
[[nodiscard]] inline std::size_t delivery_count(const Publish& publish) {
  return publish.deliveries.size() + (publish.fanout ? publish.fanout->count : 0);
}

}  // namespace postrider
