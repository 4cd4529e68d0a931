// The leases of this server while it runs. One thread decides what to do (engine/leases), a second
// one talks to the table of leases, because a call may take as long as a lease has left.
//
// Leases are counted by the clock that goes on while the machine is suspended. A hypervisor can
// also stop that one, but then often sets the wall clock when it continues: nothing is sent either
// if the lease has ended by the wall clock, until a turn tells what is still held. A wall clock
// that was only set forward so costs a pause until the next turn.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/leases/node_leases.h"
#include "ports/clock.h"
#include "ports/leases.h"

#include "runtime/delivery/shard_ports.h"

namespace postrider {

/// Learns which shards this server works. Called on the keeper's thread. Must not block.
class LeaseObserver {
 public:
  virtual void shard_acquired(const ShardAcquired& acquired) = 0;
  virtual void shard_lost(const ShardLost& lost) = 0;
  /// After each turn.
  virtual void cluster_seen(const ClusterView& view) = 0;
  /// The answer to LeaseKeeper::leave: all shards are handed back.
  virtual void shards_left() = 0;

 protected:
  ~LeaseObserver() = default;
};

struct LeaseCounts {
  std::uint64_t turns = 0;
  std::uint64_t turn_failures = 0;
};

class LeaseKeeper final : public SendPermit {
 public:
  /// Clock and observer must outlive the keeper.
  struct Parts {
    const Clock* clock = nullptr;
    std::unique_ptr<Leases> leases;
    LeaseObserver* observer = nullptr;
  };

  LeaseKeeper(LeaseOptions options, Parts parts);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  void start();
  /// Hands all shards over to other servers, as far as there are any. Any thread.
  void leave();
  /// Joins the threads and frees what is still leased. Call when nothing is sent any more.
  void stop();

  // Any thread.

  /// The answer to LeaseObserver::shard_lost.
  void shard_handed_back(ShardNumber shard);
  [[nodiscard]] bool may_send(ShardNumber shard) const override;
  [[nodiscard]] LeaseCounts counts() const;
  /// Whether the observer was once told of everything that this server could take.
  [[nodiscard]] bool has_joined() const { return has_joined_.load(std::memory_order_acquire); }

 private:
  void run();
  void run_turns();
  void add_input(LeaseInput input);
  /// Waits for an input or the alarm. Returns nothing if the keeper is stopping.
  [[nodiscard]] std::optional<std::vector<LeaseInput>> wait_for_inputs();
  void step(const LeaseInput& input);

  void perform(const ShardLost& lost);
  void perform(const ShardAcquired& acquired);
  void perform(const RunTurn& run);
  void perform(const SetAlarm& set);
  void perform(const LeavePool& leave);

  const NodeId node_;
  const Millis held_max_;  // After a turn was sent.
  Parts parts_;

  mutable std::mutex mutex_;  // Guards the five below.
  std::condition_variable wake_;
  std::condition_variable turn_wanted_;
  std::vector<LeaseInput> inputs_;
  std::optional<LeaseTurn> turn_;
  LeaseCounts counts_;
  bool stopping_ = false;
  bool started_ = false;

  // Keeper's thread only.
  NodeLeases leases_;
  std::optional<MonoTime> alarm_;
  WallTime step_at_{};       // Of the current step.
  WallTime turn_sent_at_{};  // Of the latest turn.

  std::array<std::atomic<bool>, shard_count> held_{};
  std::atomic<MonoTime::rep> held_until_{0};
  std::atomic<WallTime::rep> held_until_wall_{0};
  std::atomic<bool> has_joined_{false};
  std::thread thread_;
  std::thread turn_thread_;
};

}  // namespace postrider
