// Whose turn it is. Priorities share the capacity 8:4:1 and never starve; within a priority the
// tenants take turns, and within a tenant its lanes do. Every delivery costs the same, so that
// deficit round robin is plain round robin.
//
// Lanes and tenants are small integers. Nothing here scans them: every call costs the same with one
// lane as with ten thousand.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/event.h"
#include "engine/shard/rings.h"

namespace postrider {

using LaneIndex = std::uint32_t;
using TenantIndex = std::uint32_t;
using PrioritySet = std::bitset<priority_count>;

constexpr std::array<std::int32_t, priority_count> priority_weights{8, 4, 1};

/// Who may be chosen: when only the reserve of slots is left, first attempts alone.
enum class Candidates : std::uint8_t { all, first_attempts };
constexpr std::size_t candidates_count = 2;

/// The priorities of which a lane could start a delivery now.
struct Offer {
  PrioritySet all;
  PrioritySet first_attempts;  // A part of `all`.

  bool operator==(const Offer&) const = default;
};

struct Turn {
  LaneIndex lane = 0;
  TenantIndex tenant = 0;
  Priority priority = Priority::normal;

  bool operator==(const Turn&) const = default;
};

class FairShare {
 public:
  /// A new lane offers nothing yet.
  void add(LaneIndex lane, TenantIndex tenant);
  void remove(LaneIndex lane);

  void offer(LaneIndex lane, const Offer& offer);

  /// The tenant's lanes are passed over until it is unparked; what they offer is kept.
  void park(TenantIndex tenant);
  void unpark(TenantIndex tenant);

  /// Whose turn it is. Nobody's turn is used up until `take`.
  [[nodiscard]] std::optional<Turn> next(Candidates candidates) const;
  void take(const Turn& turn, Candidates candidates);

  /// How many links were changed so far: what fairness has cost.
  [[nodiscard]] std::uint64_t relinks_total() const { return relinks_total_; }

 private:
  /// The lanes that offer one priority to one kind of candidates.
  struct Queue {
    Rings lanes;
    std::vector<RingHead> lanes_of;  // By tenant.
    Rings tenants;
    RingHead first_tenant;
  };
  struct Member {
    TenantIndex tenant = 0;
    Offer offer;
    bool present = false;
  };

  [[nodiscard]] static std::size_t number(Candidates candidates, std::size_t priority) {
    return static_cast<std::size_t>(candidates) * priority_count + priority;
  }
  void change(Candidates candidates, LaneIndex lane, PrioritySet to);
  void enter(Queue& queue, LaneIndex lane, TenantIndex tenant);
  void leave(Queue& queue, LaneIndex lane, TenantIndex tenant);
  [[nodiscard]] PrioritySet offered(Candidates candidates) const;
  [[nodiscard]] std::size_t choose(PrioritySet offered) const;

  std::vector<Member> members_;                                  // By lane.
  std::vector<bool> parked_;                                     // By tenant.
  std::array<Queue, candidates_count * priority_count> queues_;  // By `number`.
  std::array<std::int32_t, priority_count> credit_{};            // Smooth weighted round robin.
  std::uint64_t relinks_total_ = 0;
};

}  // namespace postrider
