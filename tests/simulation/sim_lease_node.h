// A node that has leases and, instead of an engine, attempts that take time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tests/simulation/sim_node.h"

namespace postrider::sim {

class SimLeaseNode;

/// What happens, for the checks.
class LeaseCluster : public SimNetwork {
 public:
  virtual void acquired(const SimLeaseNode& node, ShardEpoch shard) = 0;
  virtual void lost(const SimLeaseNode& node, ShardEpoch shard) = 0;
  /// A request to a webhook of the shard is sent.
  virtual void sent(const SimLeaseNode& node, ShardEpoch shard) = 0;

  [[nodiscard]] virtual Micros attempt_time() = 0;

 protected:
  ~LeaseCluster() = default;
};

class SimLeaseNode final : public SimNode {
 public:
  /// `cluster` must outlive this object.
  SimLeaseNode(LeaseCluster& cluster, std::uint32_t number, double rate)
      : SimNode(cluster, number, rate), cluster_(cluster) {}

  /// Sends or could send for the shard now. A paused node does not.
  [[nodiscard]] bool works(ShardNumber shard) const;

 private:
  struct Attempt {
    ShardNumber shard = 0;
    bool sent_before_pause = false;  // And the lease has ended during the pause.
  };
  struct Work {
    Epoch epoch = 0;
    std::uint32_t attempts = 0;
    std::uint32_t current_attempts = 0;  // Without those sent before a pause.
    bool is_lost = false;
    std::uint32_t tenure = 0;  // Grows with each acquisition.
  };

  void perform(const ShardLost& lost) override;
  void perform(const ShardAcquired& acquired) override;
  void started() override { send_sometimes(); }
  void resumed() override;

  void send_sometimes();
  void try_send();
  void end_attempt(std::uint64_t id);
  void abort_attempts(ShardNumber shard);
  void hand_back_if_idle(ShardNumber shard);

  LeaseCluster& cluster_;
  std::vector<Work> work_{shard_count};
  std::map<std::uint64_t, Attempt> attempts_;
  std::uint64_t last_attempt_ = 0;
};

}  // namespace postrider::sim
