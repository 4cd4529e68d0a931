// Decides which lane starts the next delivery. Priorities share the capacity 8:4:1 and never
// starve. Within a priority the tenants take turns, and within a tenant its lanes. Every delivery
// costs the same, so plain round robin is enough.
//
// When slots are scarce, the choice is limited to attempts of some ranks: of all tenants, or of one
// tenant only.
//
// Lanes and tenants are small integers. The cost of a call does not depend on their number.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/event.h"
#include "engine/shard/priority_turns.h"
#include "engine/shard/rings.h"
#include "engine/shard/slot_rank.h"

namespace postrider {

using LaneIndex = std::uint32_t;
using TenantIndex = std::uint32_t;

/// Which deliveries may be chosen: all, or only first attempts when only reserved slots are left.
enum class Candidates : std::uint8_t { all, first_attempts };

/// Which deliveries of a lane can have this rank or more right to a slot.
[[nodiscard]] constexpr Candidates candidates_of(SlotRank widest) {
  return widest >= SlotRank::retry ? Candidates::all : Candidates::first_attempts;
}

/// The priorities of which a lane can start a delivery now.
struct ReadyPriorities {
  PrioritySet all;
  PrioritySet first_attempts;  // A subset of `all`.

  bool operator==(const ReadyPriorities&) const = default;
};

struct Turn {
  LaneIndex lane = 0;
  TenantIndex tenant = 0;
  Priority priority = Priority::normal;
  SlotRank widest = widest_rank;  // The attempt must not have less right to a slot than this.

  bool operator==(const Turn&) const = default;
};

class FairShare {
 public:
  /// A new lane has nothing ready.
  void add(LaneIndex lane, TenantIndex tenant);
  void remove(LaneIndex lane);

  /// `rank` is that of the lane's first attempts.
  void set_ready(LaneIndex lane, const ReadyPriorities& ready, SlotRank rank = SlotRank::proven);

  /// The rank with which the lane was last ready.
  [[nodiscard]] SlotRank rank(LaneIndex lane) const { return members_[lane].rank; }

  /// Skips the tenant's lanes until it is unparked.
  void park(TenantIndex tenant) { set_level(tenant, 0); }
  /// Skips attempts of the tenant that have this rank or less right to a slot.
  void park(TenantIndex tenant, SlotRank from) {
    set_level(tenant, static_cast<std::uint8_t>(from));
  }
  void unpark(TenantIndex tenant) { set_level(tenant, slot_rank_count); }

  /// The lane whose turn it is, among those with an attempt that has at least the right of `widest`
  /// to a slot. The turn is not used up before `take`. Returns nullopt if no lane is ready.
  [[nodiscard]] std::optional<Turn> next(SlotRank widest) const;
  /// `widest` is that of `next`.
  void take(const Turn& turn, SlotRank widest);

  /// The number of list changes so far, to measure the cost.
  [[nodiscard]] std::uint64_t relinks_total() const { return relinks_total_; }

 private:
  /// For one rank and one priority: the lanes with an attempt that has at least the right of this
  /// rank, and the tenants with such a lane. A tenant that is parked from a rank on is also among
  /// the tenants of these ranks, with the lanes that it still may use.
  struct Queue {
    Rings lanes;
    std::vector<RingHead> lanes_of;  // By tenant.
    Rings tenants;
    RingHead first_tenant;
  };
  struct Member {
    TenantIndex tenant = 0;
    ReadyPriorities ready;
    SlotRank rank = SlotRank::proven;
    bool present = false;
  };

  [[nodiscard]] static PrioritySet ready_for(const ReadyPriorities& ready, SlotRank rank,
                                             std::size_t widest);
  [[nodiscard]] Queue& queue(std::size_t rank, std::size_t priority) {
    return queues_[rank * priority_count + priority];
  }
  [[nodiscard]] const Queue& queue(std::size_t rank, std::size_t priority) const {
    return queues_[rank * priority_count + priority];
  }
  void set_level(TenantIndex tenant, std::uint8_t level);
  /// Updates which tenant rings contain the tenant, from this rank on.
  void update_tenant(TenantIndex tenant, std::size_t rank, std::size_t priority);
  [[nodiscard]] PrioritySet available(std::size_t rank) const;

  std::vector<Member> members_;      // By lane.
  std::vector<std::uint8_t> level_;  // By tenant: how many ranks it may use.
  std::array<Queue, slot_rank_count * priority_count> queues_;
  PriorityTurns turns_;
  std::uint64_t relinks_total_ = 0;
};

}  // namespace postrider
