// Hands deliveries over to the nodes that hold their shards, as rows of the table `handoff`. One
// object per transaction. Store thread only.
//
// A row contains added or changed deliveries of one shard, closed deliveries, or a command. It is
// only a hint: the deliveries themselves are in the table waiting.
#pragma once

#include <cstdint>

#include "core/model/delivery.h"
#include "core/model/event.h"

#include "adapters/postgres/store/database/joined_statement.h"
#include "adapters/postgres/store/peers/held_shards.h"
#include "adapters/postgres/store/peers/shard_fence.h"

namespace postrider::postgres {

/// These numbers are stored in the database and must never change.
enum class HandoffKind : std::uint8_t { deliveries = 0, closed = 1, command = 2 };

class Handoff {
 public:
  /// Both must outlive this object.
  Handoff(const HeldShards& held, const ShardFence& fence) : held_(held), fence_(fence) {}

  /// Hands over a delivery that was added, or that waits and was changed. Does nothing if `fence`
  /// allows this node to work it. Returns whether it was handed over.
  bool add(const Delivery& delivery, const TenantId& tenant_id);
  /// Like `add`, for a delivery that no longer waits.
  bool add_closed(const Delivery& delivery, const TenantId& tenant_id);

  [[nodiscard]] bool empty() const { return shards_.size() == 0; }
  /// Adds the insertion of the rows, if something is handed over.
  void add_to(JoinedStatement& joined) &&;

 private:
  bool add(const Delivery& delivery, const TenantId& tenant_id, HandoffKind kind);

  const HeldShards& held_;
  const ShardFence& fence_;
  Array pools_{ElementType::text};
  Array shards_{ElementType::int2};
  Array kinds_{ElementType::int2};
  Array sequences_{ElementType::int8};
  Array delivery_ids_{ElementType::uuid};
  Array webhook_ids_{ElementType::uuid};
};

}  // namespace postrider::postgres
