// The table of leases in the simulated database, and the way to it: turns are lost and late, nodes
// are cut off, the database is down for a while, and its clock runs at its own rate and jumps.
#pragma once

#include <functional>

#include "adapters/memory/memory_leases.h"

#include "tests/simulation/lease_scenario.h"
#include "tests/simulation/sim_node.h"

namespace postrider::sim {

class SimLeaseTable {
 public:
  /// A node has taken a turn; `before` is what there was until then.
  using Taken = std::function<void(const SimNode& node, const ClusterView& before)>;

  /// Everything referred to must outlive this object.
  SimLeaseTable(const LeaseScenario& scenario, SimNetwork& network, double rate, Taken taken);

  void send_turn(SimNode& node, const LeaseTurn& turn, SimNetwork::Answer answer);
  void send_leave(const SimNode& node);

  /// Cuts the node off from the database, after a while and for a while.
  void cut_off(SimNode& node, Micros after, Micros time);
  void go_down(Micros time);
  /// The clock is set forward by more than a lease. Not twice during one lease.
  void jump();
  /// Ends all faults.
  void calm();

  [[nodiscard]] bool is_down() const;
  [[nodiscard]] ClusterView view();
  [[nodiscard]] Lease lease(ShardNumber shard);

 private:
  [[nodiscard]] bool happens(std::uint32_t per_mille);
  [[nodiscard]] Micros some_time(Micros max);
  void sync();
  void count_jump(Millis length);
  void execute(const SimNode& node, const LeaseTurn& turn, const SimNetwork::Answer& answer,
               Micros back);

  const LeaseScenario& scenario_;
  SimNetwork& network_;
  double rate_;
  Taken taken_;
  MemoryLeaseTable table_;
  Millis time_{0};  // That has passed in the table.
  Millis last_turn_{0};
  bool has_jumped_ = false;  // Since the last turn.
  MonoTime jump_allowed_{};
  MonoTime down_until_{};
  bool calm_ = false;
};

}  // namespace postrider::sim
