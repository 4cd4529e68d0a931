#include "adapters/memory/memory_leases.h"

#include <utility>

namespace postrider {
namespace {

class MemoryLeases final : public Leases {
 public:
  MemoryLeases(MemoryLeaseTable& table, NodeIdentity identity)
      : table_(table), identity_(std::move(identity)) {}

  Result<ClusterView> take_turn(const LeaseTurn& turn) override {
    return table_.take_turn(identity_, turn);
  }
  Result<void> leave() override {
    table_.leave(identity_.id);
    return {};
  }

 private:
  MemoryLeaseTable& table_;
  NodeIdentity identity_;
};

}  // namespace

void MemoryLeaseTable::pass(Millis time) {
  const std::lock_guard lock{mutex_};
  now_ += time;
}

ClusterView MemoryLeaseTable::take_turn(const NodeIdentity& identity, const LeaseTurn& turn) {
  const std::lock_guard lock{mutex_};
  note_node(identity, turn);
  Rows& rows = pools_.try_emplace(identity.pool, shard_count).first->second;
  for (const ShardEpoch& release : turn.release) {
    Row& row = rows.at(release.shard);
    if (row.owner == identity.id && row.epoch == release.epoch) {
      row.owner.reset();
    }
  }
  for (Row& row : rows) {
    if (row.owner == identity.id && row.expires_at > now_) {
      row.expires_at = now_ + turn.length;
    }
  }
  for (const ShardNumber shard : turn.take) {
    Row& row = rows.at(shard);
    if (!row.owner || row.expires_at <= now_) {
      row = {.owner = identity.id, .epoch = row.epoch + 1, .expires_at = now_ + turn.length};
    }
  }
  return view_of(rows);
}

void MemoryLeaseTable::note_node(const NodeIdentity& identity, const LeaseTurn& turn) {
  std::erase_if(nodes_, [&](const auto& entry) { return entry.second.expires_at <= now_; });
  Node& node =
      nodes_.try_emplace(identity.id, Node{.identity = identity, .joined_at = now_}).first->second;
  node.leaving = turn.leaving;
  node.expires_at = now_ + turn.length;
  ++node.turns;
}

void MemoryLeaseTable::leave(NodeId id) {
  const std::lock_guard lock{mutex_};
  nodes_.erase(id);
  for (auto& [pool, rows] : pools_) {
    for (Row& row : rows) {
      if (row.owner == id) {
        row.owner.reset();
      }
    }
  }
}

ClusterView MemoryLeaseTable::view(const std::string& pool) const {
  const std::lock_guard lock{mutex_};
  const auto rows = pools_.find(pool);
  return view_of(rows != pools_.end() ? rows->second : Rows(shard_count));
}

Lease MemoryLeaseTable::lease(const std::string& pool, ShardNumber shard) const {
  const std::lock_guard lock{mutex_};
  const auto rows = pools_.find(pool);
  return rows != pools_.end() ? lease_of(rows->second.at(shard)) : Lease{};
}

Lease MemoryLeaseTable::lease_of(const Row& row) const {
  return {.owner = row.owner,
          .epoch = row.epoch,
          .expired = row.owner.has_value() && row.expires_at <= now_};
}

ClusterView MemoryLeaseTable::view_of(const Rows& rows) const {
  ClusterView view;
  view.leases.reserve(rows.size());
  for (const auto& [id, node] : nodes_) {
    if (node.expires_at > now_) {
      view.nodes.push_back({.identity = node.identity,
                            .leaving = node.leaving,
                            .turns = node.turns,
                            .age = now_ - node.joined_at,
                            .left = node.expires_at - now_});
    }
  }
  for (const Row& row : rows) {
    view.leases.push_back(lease_of(row));
  }
  return view;
}

std::unique_ptr<Leases> make_memory_leases(MemoryLeaseTable& table, NodeIdentity identity) {
  return std::make_unique<MemoryLeases>(table, std::move(identity));
}

}  // namespace postrider
