// How many slots an attempt may use, so that no webhook and no tenant takes those of the others
// (P5). Pure arithmetic, used by every Allowance.
//
// - A tenant above its share starts nothing more while slots are scarce. The share is the total
//   divided by the number of active tenants and one: the next tenant finds its share free.
// - Of the total, and of what a tenant may use, an eighth is for webhooks that hold slots briefly
//   and have nothing in flight, and another eighth for those that hold slots briefly. Half of the
//   former part of the total is for tenants with nothing in flight.
// - At most half of either goes to webhooks that hold slots long.
// - A webhook that is not proven and has nothing in flight is tried ahead of the proven ones, while
//   few attempts of unproven webhooks are in flight: a quarter of the total and of what the
//   tenant may use, half of the total if the tenant has nothing in flight, and much less if the
//   webhook is suspect. This is a trial. Without it, proven webhooks with a backlog would take
//   every slot again as soon as they give it back. No slot is kept free for trials.
//
// docs/decisions/0024-shares-of-slots.md gives the reasons.
#pragma once

#include <cstdint>
#include <optional>

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

/// The widest rank that may get a slot while `taken` are taken. A hint. Trials have their own.
[[nodiscard]] SlotRank rank_hint(const AllowanceLimits& limits, std::uint32_t taken);
/// The widest rank that may get a slot for a trial; nullopt if none may. A hint.
[[nodiscard]] std::optional<SlotRank> trial_hint(const AllowanceLimits& limits,
                                                 const SlotCounts& total);

}  // namespace postrider
