// What one publish stores. Plain structs that do not know the engine's classes, so that ports and
// adapters can use them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// Everything one publish commits, in one transaction. The store assigns the sequences.
struct Publish {
  Event event;
  std::vector<Delivery> deliveries;
  std::optional<IdempotencyClaim> claim;
  /// Adjacent publishes of a batch with the same non-zero group are stored all or none.
  std::uint64_t atomic_group = 0;

  bool operator==(const Publish&) const = default;
};

}  // namespace postrider
