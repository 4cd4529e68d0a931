// Stores one batch in two exchanges with the database. The first reads and locks what the batch
// names; then everything is decided; the second writes the results and commits. One object per
// transaction. Store thread only.
#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/postgres/store/database/writer.h"
#include "adapters/postgres/store/ledger/delivery_changes.h"
#include "adapters/postgres/store/ledger/late_delivery_writer.h"
#include "adapters/postgres/store/ledger/named_deliveries.h"
#include "adapters/postgres/store/ledger/new_deliveries.h"
#include "adapters/postgres/store/ledger/publish_writer.h"
#include "adapters/postgres/store/ledger/request_shapes.h"
#include "adapters/postgres/store/ledger/sequences.h"
#include "adapters/postgres/store/ledger/stats_writer.h"
#include "adapters/postgres/store/peers/handoff.h"
#include "adapters/postgres/store/peers/held_shards.h"
#include "adapters/postgres/store/peers/shard_fence.h"

namespace postrider::postgres {

class BatchCommit {
 public:
  struct Parts {
    Writer& writer;
    StatsWriter& stats;
    RequestShapes& shapes;
    const HeldShards& held;
    std::size_t& claims_added;  // Since the last cleanup of claims.
  };

  /// `batch` must outlive this object.
  BatchCommit(const Batch& batch, const Parts& parts);

  /// Call within a transaction, which it may commit. See Ledger::commit.
  [[nodiscard]] Result<BatchReceipt> run();

 private:
  [[nodiscard]] Result<void> read();
  void add_shards();
  [[nodiscard]] Result<void> check_named();
  void decide();
  void settle();
  void hand_over();
  void add_named(DeliveryId id);
  [[nodiscard]] Result<void> write();
  void queue_writes();
  [[nodiscard]] Result<void> append_audits();

  const Batch& batch_;
  Parts parts_;
  Session& session_;
  PublishWriter publishes_;
  LateDeliveryWriter late_;
  NamedDeliveries named_;
  Sequences sequences_;
  NewDeliveries new_deliveries_;
  ShardFence fence_;
  Handoff handoff_;
  bool outdated_ = false;     // The catalogue has changed since the publishes were planned.
  bool names_added_ = false;  // It changes a delivery that it adds.
  StatsChanges stats_;
  BatchReceipt receipt_;
  DeliveryChanges changes_{receipt_, stats_};
};

}  // namespace postrider::postgres
