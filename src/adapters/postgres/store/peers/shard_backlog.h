// Reads the webhooks of one shard with waiting deliveries. Store thread only.
//
// The table waiting has no index by shard, because it would slow down every delivery. The webhooks
// of all shards are read once instead, and again when the catalogue has changed.
#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/catalog_version.h"
#include "core/model/shard_number.h"
#include "ports/ledger.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/peers/held_shards.h"

namespace postrider::postgres {

class ShardBacklog {
 public:
  /// See Peers::backlog.
  [[nodiscard]] Result<std::vector<LaneBacklog>> read(Session& session, const HeldShards& held,
                                                      ShardNumber shard);
  /// Call when the pools of tenants have changed.
  void forget() { version_.reset(); }

 private:
  [[nodiscard]] Result<void> read_webhooks(Session& session, const HeldShards& held);

  std::optional<CatalogVersion> version_;
  std::vector<std::vector<WebhookId>> webhooks_;  // Of this node's pool, by shard, at `version_`.
};

}  // namespace postrider::postgres
