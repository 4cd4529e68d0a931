// A node of a simulated cluster, as far as all simulations of clusters share it: a clock that runs
// at its own rate, the real NodeLeases and their turns, and pauses, during which nothing of the
// node happens.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "core/base/random.h"
#include "core/model/lease.h"
#include "engine/leases/node_leases.h"

#include "tests/simulation/timeline.h"

namespace postrider::sim {

class SimNode;

/// The cluster as its nodes see it.
class SimNetwork {
 public:
  using Answer = std::function<void(const ClusterView&)>;

  /// Sends a turn to the database. `answer` is called if the answer arrives, maybe late.
  virtual void send_turn(SimNode& node, const LeaseTurn& turn, Answer answer) = 0;
  virtual void send_leave(const SimNode& node) = 0;
  virtual void note(const std::string& line) = 0;

  [[nodiscard]] virtual Timeline& timeline() = 0;
  [[nodiscard]] virtual SplitMix64& random() = 0;

 protected:
  ~SimNetwork() = default;
};

class SimNode {
 public:
  /// `rate`: how fast the node's clock runs. `network` must outlive this object.
  SimNode(SimNetwork& network, std::uint32_t number, double rate);
  virtual ~SimNode() = default;
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;

  void start();
  void leave();
  void crash();
  void pause();
  void resume();
  void set_connected(bool connected) { connected_ = connected; }

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] NodeId id() const { return id_; }
  [[nodiscard]] bool is_connected() const { return connected_; }
  /// Neither gone nor about to go.
  [[nodiscard]] bool is_staying() const { return !gone_ && !leaving_; }
  [[nodiscard]] bool is_gone() const { return gone_; }
  [[nodiscard]] bool is_paused() const { return paused_; }
  [[nodiscard]] std::uint32_t shards_held() const;
  [[nodiscard]] bool may_send(ShardNumber shard) const { return leases_.may_send(shard, local()); }
  /// All leases have ended by the node's clock.
  [[nodiscard]] bool has_expired() const { return local() >= leases_.held_until(); }

  /// The node's clock.
  [[nodiscard]] MonoTime local() const;
  [[nodiscard]] MonoTime true_time(MonoTime local) const;

  /// Runs `act` after a delay, but not while the node is paused, and not if it is gone.
  void after(Micros delay, std::function<void()> act);
  void arrive(std::function<void()> act);

 protected:
  void step(const LeaseInput& input);
  virtual void perform(const ShardLost& lost) = 0;
  virtual void perform(const ShardAcquired& acquired) = 0;
  virtual void started() = 0;
  /// After a pause, before anything that has arrived meanwhile.
  virtual void resumed() = 0;
  /// The process is gone.
  virtual void ended() {}

  [[nodiscard]] SimNetwork& network() const { return network_; }
  [[nodiscard]] double rate() const { return rate_; }

 private:
  void perform(const RunTurn& run);
  void perform(const SetAlarm& alarm);
  void perform(const LeavePool& leave);

  SimNetwork& network_;
  std::uint32_t number_;
  NodeId id_;
  double rate_;
  NodeLeases leases_;
  std::uint64_t open_turn_ = 0;  // 0: none runs.
  std::uint64_t last_turn_ = 0;
  std::uint64_t alarm_ = 0;
  bool connected_ = true;
  bool paused_ = false;
  bool leaving_ = false;
  bool gone_ = false;
  std::deque<std::function<void()>> arrived_;  // While paused.
};

}  // namespace postrider::sim
