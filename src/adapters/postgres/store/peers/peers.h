// The Peers role on the writer's connection. Store thread only.
#pragma once

#include <memory>

#include "ports/peers.h"

#include "adapters/postgres/store/database/writer.h"
#include "adapters/postgres/store/peers/held_shards.h"

namespace postrider::postgres {

/// `held` is shared with the ledger.
[[nodiscard]] std::unique_ptr<Peers> make_peers(std::shared_ptr<Writer> writer,
                                                std::shared_ptr<HeldShards> held);

}  // namespace postrider::postgres
