// Signals between the nodes that share a store in a PostgreSQL database.
#pragma once

#include <memory>

#include "core/model/lease.h"
#include "ports/peer_signals.h"

#include "adapters/postgres/connection.h"

namespace postrider {

/// Nodes whose stores are in the same schema signal each other. `id` is the node's own, whose
/// signals are ignored. The first call opens the connection. `interruption`, if not null, ends
/// waiting for the database within seconds, except for `wait`, which `wake` ends.
[[nodiscard]] std::unique_ptr<PeerSignals> make_postgres_peer_signals(
    postgres::ConnectOptions connect, NodeId id,
    std::shared_ptr<const postgres::Interruption> interruption = nullptr);

}  // namespace postrider
