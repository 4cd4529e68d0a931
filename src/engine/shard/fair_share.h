// Decides which lane starts the next delivery. Priorities share the capacity 8:4:1 and never
// starve. Within a priority the tenants take turns, and within a tenant its lanes. Every delivery
// costs the same, so plain round robin is enough.
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

namespace postrider {

using LaneIndex = std::uint32_t;
using TenantIndex = std::uint32_t;

/// Which deliveries may be chosen: all, or only first attempts when only reserved slots are left.
enum class Candidates : std::uint8_t { all, first_attempts };
constexpr std::size_t candidates_count = 2;

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

  bool operator==(const Turn&) const = default;
};

class FairShare {
 public:
  /// A new lane has nothing ready.
  void add(LaneIndex lane, TenantIndex tenant);
  void remove(LaneIndex lane);

  void set_ready(LaneIndex lane, const ReadyPriorities& ready);

  /// Skips the tenant's lanes until it is unparked.
  void park(TenantIndex tenant);
  void unpark(TenantIndex tenant);

  /// The lane whose turn it is. The turn is not used up before `take`. Returns nullopt if no lane
  /// is ready.
  [[nodiscard]] std::optional<Turn> next(Candidates candidates) const;
  void take(const Turn& turn, Candidates candidates);

  /// The number of list changes so far, to measure the cost.
  [[nodiscard]] std::uint64_t relinks_total() const { return relinks_total_; }

 private:
  /// The lanes that are ready for one priority and one kind of candidates.
  struct Queue {
    Rings lanes;
    std::vector<RingHead> lanes_of;  // By tenant.
    Rings tenants;
    RingHead first_tenant;
  };
  struct Member {
    TenantIndex tenant = 0;
    ReadyPriorities ready;
    bool present = false;
  };

  [[nodiscard]] static std::size_t queue_index(Candidates candidates, std::size_t priority) {
    return static_cast<std::size_t>(candidates) * priority_count + priority;
  }
  void change(Candidates candidates, LaneIndex lane, PrioritySet to);
  void enter(Queue& queue, LaneIndex lane, TenantIndex tenant);
  void leave(Queue& queue, LaneIndex lane, TenantIndex tenant);
  [[nodiscard]] PrioritySet available(Candidates candidates) const;

  std::vector<Member> members_;                                  // By lane.
  std::vector<bool> parked_;                                     // By tenant.
  std::array<Queue, candidates_count * priority_count> queues_;  // By `queue_index`.
  PriorityTurns turns_;
  std::uint64_t relinks_total_ = 0;
};

}  // namespace postrider
