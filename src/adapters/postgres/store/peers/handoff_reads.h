// Takes the rows of the table `handoff` that are for this node. Store thread only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ports/peers.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/peers/held_shards.h"

namespace postrider::postgres {

/// See Peers::receive. Call outside of a transaction.
[[nodiscard]] Result<HandedOver> receive_handed_over(Session& session, const HeldShards& held,
                                                     std::size_t limit);

/// See Peers::forget_handed_over. Call outside of a transaction.
[[nodiscard]] Result<bool> forget_handed_over(Session& session, const std::string& pool,
                                              const std::vector<ShardEpoch>& leases,
                                              std::size_t limit);

/// See Peers::command. Call within a transaction.
[[nodiscard]] Result<void> hand_over(Session& session, const HeldShards& held,
                                     const CircuitCommanded& command);

/// Removes rows that are hours old and whose shards no node holds. A node that acquires such a
/// shard reads its backlog instead. Call within a transaction.
[[nodiscard]] Result<void> remove_old_handoffs(Session& session);

}  // namespace postrider::postgres
