// Views of a cluster for the tests of this folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/lease.h"

namespace postrider::test {

inline NodeId node_id(int number) { return NodeId{{static_cast<std::uint8_t>(number)}}; }

/// A cluster whose nodes are known by small numbers.
class Cluster {
 public:
  /// A node that is neither new nor leaving. Replaces one with this number.
  ClusterNode& add(int number, std::string pool = {}) {
    ClusterNode& node = nodes_[number];
    node = {.identity = {.id = node_id(number), .pool = std::move(pool), .address = {}},
            .leaving = false,
            .turns = 1,
            .age = Millis{3'600'000},
            .left = Millis{15'000}};
    return node;
  }
  void remove(int number) { nodes_.erase(number); }
  [[nodiscard]] ClusterNode& node(int number) { return nodes_.at(number); }

  /// Gives `count` shards from `first` on to a node, each with its next epoch.
  void give(int number, int first, int count) {
    for (int shard = first; shard < first + count; ++shard) {
      Lease& lease = this->lease(shard);
      lease = {.owner = node_id(number), .epoch = lease.epoch + 1, .expired = false};
    }
  }
  [[nodiscard]] Lease& lease(int shard) { return leases_.at(static_cast<std::size_t>(shard)); }

  [[nodiscard]] ClusterView view() const {
    ClusterView view{.nodes = {}, .leases = leases_};
    for (const auto& [number, node] : nodes_) {
      view.nodes.push_back(node);
    }
    return view;
  }

 private:
  std::map<int, ClusterNode> nodes_;
  std::vector<Lease> leases_ = std::vector<Lease>(shard_count);
};

}  // namespace postrider::test
