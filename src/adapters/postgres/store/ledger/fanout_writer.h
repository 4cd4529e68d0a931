// Makes deliveries from notes, step by step. Store thread only.
//
// A step locks the notes that it reads, so that two nodes do not work on one tenant at the same
// time.
#pragma once

#include <cstdint>
#include <map>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/postgres/store/database/writer.h"
#include "adapters/postgres/store/ledger/stats_writer.h"
#include "adapters/postgres/store/peers/held_shards.h"

namespace postrider::postgres {

struct FanOutParts {
  Writer& writer;
  StatsWriter& stats;
  const HeldShards& held;
};

/// See Ledger::fan_out. Call within a transaction, which it may commit.
[[nodiscard]] Result<FannedOut> fan_out(const FanOutParts& parts, const FanOutStep& order);

/// See Ledger::open_fanouts.
[[nodiscard]] Result<std::map<TenantId, std::uint64_t>> read_open_fanouts(Session& session);

}  // namespace postrider::postgres
