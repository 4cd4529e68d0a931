// Moves the due times of waiting deliveries forward after a change of the webhook's retry policy.
// Reads in the order of the due index: a moved delivery ends up before the current position, so
// each one is visited once. Store thread only.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/postgres/store/database/writer.h"
#include "adapters/postgres/store/peers/held_shards.h"

namespace postrider::postgres {

/// See Ledger::bring_forward. Call within a transaction, which it may commit.
[[nodiscard]] Result<BroughtForward> bring_forward(Writer& writer, const HeldShards& held,
                                                   const BringForward& order);

/// The SQL of its read, so that a test can check the query plan.
[[nodiscard]] std::vector<std::string_view> rescheduling_queries();

}  // namespace postrider::postgres
