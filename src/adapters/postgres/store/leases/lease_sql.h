// The statements of a turn as one text, sent in one message. The server starts only when it has the
// whole message, and commits without another one. So a node that fails during a turn leaves no open
// transaction, which would block the turns of all other nodes.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/model/lease.h"

#include "adapters/postgres/connection.h"

namespace postrider::postgres {

/// The last statement returns the view.
[[nodiscard]] std::string turn_sql(const NodeIdentity& identity, const LeaseTurn& turn);

[[nodiscard]] std::string leave_sql(NodeId id);

/// Fails with unavailable if the tables are not complete.
[[nodiscard]] Result<ClusterView> read_view(const TextRows& rows);

}  // namespace postrider::postgres
