// How the nodes on one database communicate: which node may store decisions about a webhook (P8),
// which deliveries one node has stored for the webhooks of another, and what has changed in the
// catalogue that all keep in memory.
//
// Store thread only, like the ledger, and on its connection. Calls block. Nodes are woken through
// ports/peer_signals.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/catalog_version.h"
#include "core/model/delivery.h"
#include "core/model/lease.h"
#include "engine/shard/messages.h"
#include "ports/ledger.h"

namespace postrider {

/// A part of what every node keeps in memory.
enum class CatalogPart : std::uint8_t {
  webhooks,
  access,  ///< Keys, sessions, tenants, sign-in links.
  event_types,
  channels,   ///< Notification channels.
  operations  ///< Added, or their status changed.
};

/// What has changed between two versions.
struct CatalogChanges {
  CatalogVersion version = 0;       // Including these changes.
  std::vector<WebhookId> webhooks;  // Added, changed or removed. Each once.
  std::vector<CatalogPart> parts;   // Other than webhooks. Each once.
  bool incomplete = false;          // The list is lost: read everything again.
};

/// What other nodes have done to deliveries and lanes of webhooks that this node works.
struct HandedOver {
  std::vector<Delivery> deliveries;        // Waiting, as they are now: new, revived or changed.
  std::vector<LaneDelivery> closed;        // No longer waiting: cancelled.
  std::vector<CircuitCommanded> commands;  // In the order in which they were stored.
  std::size_t taken = 0;                   // The number of rows. 0: there was nothing.
  bool more = false;                       // Call again.
};

class Peers {
 public:
  virtual ~Peers() = default;

  /// From now on the ledger stores settlements, circuits and reschedulings only of shards that are
  /// held, under a lease that no other node has taken since; others are ignored, as if their
  /// deliveries were unknown, and BatchReceipt::lost names their shards. Deliveries that it adds
  /// or changes for all other shards are handed over to the nodes that hold them; then
  /// BatchReceipt::handed_over is true. Without this call the store is used by one node alone, and
  /// nothing is handed over. Call at most once, before the first commit.
  virtual void join(std::string pool) = 0;
  /// Before `hold`: removes what was handed over to these shards, about `limit` deliveries of it,
  /// but no commands, and nothing under a lease that another node has taken since. Deliveries may
  /// have been handed over for hours, and a node that acquires a shard reads its backlog. Returns
  /// whether there is more to remove.
  [[nodiscard]] virtual Result<bool> forget_handed_over(const std::vector<ShardEpoch>& leases,
                                                        std::size_t limit) = 0;
  virtual void hold(ShardEpoch lease) = 0;
  virtual void release(ShardNumber shard) = 0;
  [[nodiscard]] virtual bool holds(ShardNumber shard) const = 0;

  /// Sets the tenants whose webhooks a pool other than the default one works.
  virtual void set_pools(std::map<TenantId, std::string> pools) = 0;

  /// Takes about `limit` deliveries of what was handed over to the shards that this node holds.
  /// Each is returned once, to one node. It is only a hint: the deliveries are in the store, and a
  /// node that acquires a shard reads its backlog after `hold`.
  [[nodiscard]] virtual Result<HandedOver> receive(std::size_t limit) = 0;
  /// Hands a command over to the node that holds the webhook's shard, this one included. Fails with
  /// not_found if there is no such webhook.
  [[nodiscard]] virtual Result<void> command(const CircuitCommanded& command) = 0;

  /// The current version. It includes all changes that were committed before this call.
  [[nodiscard]] virtual Result<CatalogVersion> catalog_version() = 0;
  /// The changes that came after version `seen`.
  [[nodiscard]] virtual Result<CatalogChanges> changes_since(CatalogVersion seen) = 0;
  /// Within a transaction: waits until no other node is changing the catalogue, keeps the others
  /// from changing it until the transaction ends, and returns the version.
  [[nodiscard]] virtual Result<CatalogVersion> lock_catalog() = 0;

  /// The webhooks of a shard of this node's pool with waiting deliveries. See Ledger::backlog.
  [[nodiscard]] virtual Result<std::vector<LaneBacklog>> backlog(ShardNumber shard) = 0;

  /// Removes changes of the catalogue, and hints for shards that no node holds, that are older than
  /// a few hours. Call periodically.
  [[nodiscard]] virtual Result<void> remove_old() = 0;

 protected:
  Peers() = default;
  Peers(const Peers&) = default;
  Peers& operator=(const Peers&) = default;
};

}  // namespace postrider
