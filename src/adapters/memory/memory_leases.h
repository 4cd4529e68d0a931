// Shard leases in memory, for tests. The table is the database; nodes share it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/lease.h"
#include "ports/leases.h"

namespace postrider {

/// Must outlive the leases that are made on it. Any thread.
class MemoryLeaseTable {
 public:
  /// The database's time passes only here.
  void pass(Millis time);

  [[nodiscard]] ClusterView take_turn(const NodeIdentity& identity, const LeaseTurn& turn);
  void leave(NodeId id);

  // What there is now.
  [[nodiscard]] ClusterView view(const std::string& pool) const;
  [[nodiscard]] Lease lease(const std::string& pool, ShardNumber shard) const;

 private:
  struct Node {
    NodeIdentity identity;
    bool leaving = false;
    std::uint64_t turns = 0;
    Millis joined_at{0};
    Millis expires_at{0};
  };
  struct Row {
    std::optional<NodeId> owner;
    Epoch epoch = 0;
    Millis expires_at{0};
  };
  using Rows = std::vector<Row>;

  void note_node(const NodeIdentity& identity, const LeaseTurn& turn);
  [[nodiscard]] ClusterView view_of(const Rows& rows) const;
  [[nodiscard]] Lease lease_of(const Row& row) const;

  mutable std::mutex mutex_;
  Millis now_{0};  // Guarded by mutex_, as are the members below.
  std::map<NodeId, Node> nodes_;
  std::map<std::string, Rows> pools_;
};

[[nodiscard]] std::unique_ptr<Leases> make_memory_leases(MemoryLeaseTable& table,
                                                         NodeIdentity identity);

}  // namespace postrider
