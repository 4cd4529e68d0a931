// The leases of one node: when it talks to the table of leases, which shards it works, and when it
// must stop (P8). A state machine: `step` takes an input and returns commands. Pure.
//
// A shard is worked at most once under an epoch. To work it again, the node releases it and takes
// it again. So a ShardLost that overtakes its ShardAcquired can be matched by its epoch.
//
// The node counts a lease from the time at which it sent the request. The database starts counting
// later, so a lease ends here first, and by `margin` earlier still.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/lease.h"
#include "engine/leases/messages.h"

namespace postrider {

struct LeaseOptions {
  NodeId node;
  std::string pool;
  /// Other nodes take over the shards of a crashed node after this time. The same for all nodes.
  Millis length{15'000};
  /// See lease_margin.
  Millis margin{6'000};
  /// The shortest time between two turns.
  Millis turn_pause{200};
};

class NodeLeases {
 public:
  explicit NodeLeases(LeaseOptions options);

  /// If the leases ended while the process was paused, the first step loses all shards.
  [[nodiscard]] LeaseCommands step(const LeaseInput& input, MonoTime now);

  /// Call before each attempt: after a pause of the process, no step may have run yet.
  [[nodiscard]] bool may_send(ShardNumber shard, MonoTime now) const {
    const Place& place = shards_[shard];
    const bool works =
        place.stage == Stage::held || (place.stage == Stage::stopping && !place.hurried);
    return works && now < held_until_;
  }
  /// No shard may be worked from this time on, unless a turn is answered before.
  [[nodiscard]] MonoTime held_until() const { return held_until_; }
  /// Whether this node has once had everything that it could take.
  [[nodiscard]] bool has_joined() const { return has_joined_; }

 private:
  enum class Stage : std::uint8_t {
    absent,    // Not worked here.
    held,      // Worked.
    stopping,  // ShardLost was returned. Waits for ShardHandedBack; is worked until then.
    releasing  // Handed back. Stays released, even if the release is not answered.
  };
  struct Place {
    Stage stage = Stage::absent;
    bool hurried = false;  // ShardLost had `at_once`. Only while stopping.
    Epoch epoch = 0;       // Unless absent.
  };

  void on(const TurnAnswered& answer, MonoTime now);
  void on(const TurnFailed& failed, MonoTime now);
  void on(const ShardHandedBack& handed_back, MonoTime now);
  void on(const LeaveRequested& request, MonoTime now);
  void on(const AlarmRang& rang, MonoTime now);

  /// Loses the shard if the lease is no longer this node's.
  void compare(ShardNumber shard, const Lease& lease);
  /// Acquires, keeps or gives up a shard that this node has leased.
  void decide(ShardNumber shard, const Lease& lease, bool wanted, MonoTime now);
  void lose(ShardNumber shard, bool at_once);
  void lose_expired(MonoTime now);

  void prepare_leaving(const ClusterView& view, MonoTime now);
  void hand_over();
  [[nodiscard]] bool is_finished() const;

  void plan_next_turn(const ClusterView& view, MonoTime now);
  [[nodiscard]] bool expects_changes(const ClusterView& view) const;
  void start_turn(MonoTime now);
  void set_alarm(MonoTime now);
  [[nodiscard]] bool is_working() const;

  [[nodiscard]] Millis turn_interval() const { return postrider::turn_interval(options_.length); }
  [[nodiscard]] Millis established_after() const { return turn_interval() / 2; }

  LeaseOptions options_;
  std::array<Place, shard_count> shards_;
  MonoTime held_until_{};
  LeaseCommands commands_;  // Of the current step.

  bool turn_running_ = false;
  LeaseTurn turn_;  // The latest one.
  MonoTime turn_sent_{};
  MonoTime next_turn_{};
  std::vector<ShardNumber> take_;  // To be taken in the next turn.
  std::vector<Lease> seen_leases_;
  bool expects_changes_ = false;  // After the latest answer.
  MonoTime waiting_since_{};      // Since `seen_leases_` last changed.
  bool has_joined_ = false;

  bool leaving_ = false;
  bool left_ = false;
  /// The nodes that may not know yet that this one is leaving, with their turns at that time.
  std::optional<std::map<NodeId, std::uint64_t>> unaware_;
  std::optional<MonoTime> hand_over_at_;  // At the latest.
  bool handing_over_ = false;

  std::optional<MonoTime> alarm_;
};

}  // namespace postrider
