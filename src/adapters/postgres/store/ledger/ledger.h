// The Ledger role on the writer's connection. Store thread only.
#pragma once

#include <memory>

#include "ports/ledger.h"

#include "adapters/postgres/store/database/writer.h"
#include "adapters/postgres/store/peers/held_shards.h"

namespace postrider::postgres {

/// `held` is shared with Peers.
[[nodiscard]] std::unique_ptr<Ledger> make_ledger(std::shared_ptr<Writer> writer,
                                                  std::shared_ptr<const HeldShards> held);

}  // namespace postrider::postgres
