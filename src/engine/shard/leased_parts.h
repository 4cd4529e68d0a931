// Which parts of the webhooks this node works, if several nodes share them, and the lanes of each.
// A plain value, owned by the shard.
//
//     absent --ShardAcquired--> worked --ShardLost--> leaving --its slow lanes are idle--> ending
//     ending --its lanes are gone--> absent
//
// A leaving part is still worked, except for the lanes whose attempts take long: nobody else waits
// for those. A part that is lost at once is ending at once. Without leases every part is worked,
// always.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/lease.h"
#include "core/model/shard_number.h"
#include "engine/shard/fair_share.h"
#include "engine/shard/messages.h"

namespace postrider {

enum class PartStage : std::uint8_t { absent, worked, leaving, ending };

class LeasedParts {
 public:
  explicit LeasedParts(bool leased) : leased_(leased) {}

  /// Returns false if nothing changes: the lease was already lost, or is old.
  bool acquire(ShardEpoch lease);

  enum class Loss : std::uint8_t {
    ignored,   // The loss is old and was already answered.
    not_here,  // The part is not worked. Answer now.
    begins,    // Let it leave.
    hurried    // It must end at once.
  };
  [[nodiscard]] Loss lose(ShardEpoch lease, bool at_once);

  /// The leaving part is ending from now on.
  void end(ShardNumber shard);
  /// When to look at a leaving or ending part again; nullopt: not again.
  void check_at(ShardNumber shard, std::optional<MonoTime> at) { parts_[shard].check_at = at; }
  /// The parts to look at now.
  [[nodiscard]] std::vector<ShardNumber> due(MonoTime now) const;
  [[nodiscard]] std::optional<MonoTime> next_due() const;

  struct Ended {
    ShardNumber shard = 0;
    std::vector<CircuitCommanded> commands;  // That came early and still wait for a lane.
  };
  /// Makes the ending parts whose lanes are gone absent, and returns them.
  [[nodiscard]] std::vector<Ended> take_ended();

  [[nodiscard]] bool is_leased() const { return leased_; }
  [[nodiscard]] bool works(ShardNumber shard) const {
    return !leased_ || parts_[shard].stage == PartStage::worked ||
           parts_[shard].stage == PartStage::leaving;
  }
  [[nodiscard]] bool is_leaving(ShardNumber shard) const {
    return parts_[shard].stage == PartStage::leaving;
  }
  [[nodiscard]] bool ends_at_once(ShardNumber shard) const {
    return parts_[shard].stage == PartStage::ending && parts_[shard].at_once;
  }

  // ------------------------------------------------------------ lanes

  void add_lane(ShardNumber shard, LaneIndex lane);
  void remove_lane(ShardNumber shard, LaneIndex lane);
  [[nodiscard]] const std::vector<LaneIndex>& lanes(ShardNumber shard) const {
    return parts_[shard].lanes;
  }

  // ------------------------------------------------------------ webhooks without a lane

  /// What came before the webhook: another node stored both, and this one has heard of the webhook
  /// last. Or the webhook is not worked yet.
  struct Early {
    std::optional<WallTime> due;              // The earliest of its deliveries.
    std::optional<CircuitCommanded> command;  // The latest.
  };
  void came_early(WebhookId webhook_id, WallTime due);
  /// Returns false, and does not keep the command, if the part is absent.
  [[nodiscard]] bool came_early(const CircuitCommanded& command);
  /// The webhook is known now, or gone.
  [[nodiscard]] Early take_early(WebhookId webhook_id);

 private:
  struct Part {
    PartStage stage = PartStage::absent;
    bool at_once = false;              // Only while ending.
    Epoch epoch = 0;                   // The latest one that was worked.
    Epoch lost = 0;                    // The latest one that was lost.
    std::optional<MonoTime> check_at;  // Only while leaving or ending.
    std::vector<LaneIndex> lanes;
    std::unordered_map<WebhookId, Early> early;
  };

  bool leased_;
  std::array<Part, shard_count> parts_;
  std::vector<std::size_t> positions_;  // By lane: its place in Part::lanes.
  std::vector<ShardNumber> lost_;       // Leaving and ending.
};

}  // namespace postrider
