// How many slots an attempt may use, so that no webhook and no tenant takes those of the others
// (P5). Pure arithmetic, used by every Allowance.
//
// - A tenant above its share starts nothing more while slots are scarce. The share is the total
//   divided by the number of active tenants and one: the next tenant finds its share free.
// - Of the total, and of what a tenant may use, an eighth is for webhooks that hold slots briefly
//   and have nothing in flight, and another eighth for those that hold slots briefly.
// - At most half of either goes to webhooks that hold slots long.
//
// docs/decisions/0024-shares-of-slots.md gives the reasons.
#pragma once

#include <cstdint>

#include "engine/shard/allowance.h"
#include "engine/shard/slot_rank.h"

namespace postrider {

/// Fewer slots than this are not shared out.
constexpr std::uint32_t shared_slots_min = 8;
/// Of fewer slots than this, unknown webhooks may use more than half.
constexpr std::uint32_t halved_slots_min = 16;

struct SlotCounts {
  std::uint32_t taken = 0;
  std::uint32_t unproven = 0;  // Those taken by webhooks that were not proven at the time.
};

struct SlotRequest {
  SlotClaim claim;
  bool unproven = false;  // The webhook is not proven.
  SlotCounts total;
  SlotCounts tenant;
  std::uint32_t active_tenants = 0;  // Those with attempts in flight.
};

/// The attempt may start while fewer slots than this are taken.
struct SlotCeilings {
  std::uint32_t total = 0;
  std::uint32_t tenant = 0;
  /// `total` also holds for the attempts of the same rank of every other tenant.
  bool total_for_all = true;
  /// They depend on what others do, and may rise although no slot becomes free.
  bool shared_out = false;

  bool operator==(const SlotCeilings&) const = default;
};

[[nodiscard]] SlotCeilings slot_ceilings(const AllowanceLimits& limits, const SlotRequest& request);

/// The widest rank that may get a slot while `taken` are taken. A hint.
[[nodiscard]] SlotRank rank_hint(const AllowanceLimits& limits, std::uint32_t taken);

}  // namespace postrider
