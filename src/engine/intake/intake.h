// From an accepted event to what must be stored: the event and one delivery per webhook that wants
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/delivery.h"
#include "core/model/event.h"
#include "engine/intake/directory.h"

namespace postrider {

/// What the publisher said to make a repeat recognisable (P3). Only when it gave a key itself: a
/// key we made cannot come twice.
struct IdempotencyClaim {
  std::string key;
  std::string
      body_digest;  // Of the request as published: the same key with another digest is an error.
  WallTime expires_at;

  bool operator==(const IdempotencyClaim&) const = default;
};

/// Everything one publish commits, in one transaction. The sequences are the store's to give.
struct Publish {
  Event event;
  std::vector<Delivery> deliveries;
  std::optional<IdempotencyClaim> claim;
  std::uint64_t atomic_group =
      0;  // Neighbours in a batch with the same non-zero group: all or none.

  bool operator==(const Publish&) const = default;
};

/// Pure. `due` is the steady time: the event's own created_at may be ahead of it after a clock
/// jump, and a fresh event must not wait (P9).
[[nodiscard]] Publish plan_publish(Event event, const Directory& directory, UuidMaker& ids,
                                   WallTime due);

/// The same for who has been found to want it.
[[nodiscard]] Publish plan_publish(Event event, const std::vector<WebhookRef>& webhooks,
                                   UuidMaker& ids, WallTime due);

}  // namespace postrider
