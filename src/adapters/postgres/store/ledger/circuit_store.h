// Writes the circuits of a batch, and reads the attempts that a circuit counts after a restart.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/peers/shard_fence.h"

namespace postrider::postgres {

/// Queues the statements that save the circuits and their open periods. Ignores unknown webhooks,
/// and webhooks that `fence` does not allow.
void queue_circuits(Session& session, const std::vector<SaveCircuit>& circuits,
                    const ShardFence& fence);

/// See Ledger::recent_calls.
[[nodiscard]] Result<std::vector<PastCall>> read_recent_calls(Session& session, WebhookId id,
                                                              const CallsToRestore& which);

}  // namespace postrider::postgres
