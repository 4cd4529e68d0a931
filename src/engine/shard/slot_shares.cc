#include "engine/shard/slot_shares.h"

#include <algorithm>

namespace postrider {
namespace {

constexpr std::uint32_t reserve_of(std::uint32_t capacity) { return capacity / 8; }

/// Of the reserve: only for tenants with nothing in flight. Otherwise many idle webhooks of a few
/// tenants would use all slots, and every event of another tenant would have to wait for its turn.
constexpr std::uint32_t newcomers_of(std::uint32_t reserve) { return std::max(reserve / 2, 1u); }

/// The part of the slots that an attempt asks for: the total, or what its tenant may use.
struct Pool {
  std::uint32_t capacity = 0;
  std::uint32_t reserve = 0;
  std::uint32_t unproven = 0;

  /// The capacity without `count`, but at least one.
  [[nodiscard]] std::uint32_t without(std::uint32_t count) const {
    return capacity > count ? capacity - count : 1;
  }
};

/// How a tenant's use compares to its share.
enum class Use : std::uint8_t { none, below_half, more };

/// How many slots of the pool may be taken before this attempt starts.
std::uint32_t ceiling(const SlotRequest& request, const Pool& pool, Use use) {
  const std::uint32_t reserve = pool.reserve;
  const SlotRank rank = request.claim.rank;
  if (rank == SlotRank::idle) {
    return use == Use::none ? pool.capacity : pool.without(newcomers_of(reserve));
  }
  if (rank == SlotRank::proven) {
    return pool.without(reserve);
  }
  const bool may_hold_long =
      rank == SlotRank::suspect || (rank == SlotRank::further && pool.capacity >= halved_slots_min);
  if (may_hold_long && pool.unproven >= std::max(pool.capacity / 2, 1u)) {
    return 0;
  }
  // Proven webhooks that use all they may do not starve the others.
  const bool first_unproven = request.unproven && pool.unproven < std::max(reserve / 2, 1u);
  if (first_unproven) {
    return pool.without(reserve);
  }
  if (rank == SlotRank::doubtful) {
    return pool.without(use == Use::none ? 2 * reserve : 3 * reserve);
  }
  if (use == Use::none) {
    return pool.without(reserve);
  }
  return pool.without(reserve + (use == Use::below_half ? reserve / 2 : reserve));
}

struct TenantShare {
  Pool pool;  // What the tenant may use now.
  Use use = Use::more;
};

TenantShare share_of(const AllowanceLimits& limits, const SlotRequest& request) {
  const std::uint32_t slots = limits.in_flight_max;
  const std::uint32_t active = request.active_tenants + (request.tenant.taken == 0 ? 1 : 0);
  const std::uint32_t share =
      active <= 1 ? limits.tenant_in_flight_max : std::max(slots / (active + 1), 2u);
  const std::uint32_t free = slots - std::min(slots, request.total.taken);
  const bool below_half = request.tenant.taken < share / 2;
  const Use used = below_half ? Use::below_half : Use::more;
  const std::uint32_t capacity = std::min(limits.tenant_in_flight_max, std::max(free, share));
  // Also a small share keeps one slot for proven webhooks with nothing in flight.
  const std::uint32_t reserve = capacity < limits.tenant_in_flight_max
                                    ? std::max(reserve_of(capacity), 1u)
                                    : reserve_of(capacity);
  return {.pool = {.capacity = capacity, .reserve = reserve, .unproven = request.tenant.unproven},
          .use = request.tenant.taken == 0 ? Use::none : used};
}

/// A trial starts while fewer attempts of unproven webhooks than this are in flight. What proven
/// webhooks have in flight does not count, because it ends soon. Suspects get fewer trials than the
/// others: a hanging one must not keep a new webhook waiting. Nor must a tenant keep another one
/// waiting that has nothing in flight.
struct TrialLimits {
  std::uint32_t suspect = 0;
  std::uint32_t other = 0;
  std::uint32_t first_of_tenant = 0;

  [[nodiscard]] std::uint32_t of(SlotRank rank, Use use) const {
    if (rank == SlotRank::suspect) {
      return suspect;
    }
    return use == Use::none ? first_of_tenant : other;
  }
};

TrialLimits total_trials(std::uint32_t slots) {
  const std::uint32_t reserve = reserve_of(slots);
  return {.suspect = std::max(reserve / 4, 1u),
          .other = std::max(slots / 4, 2u),
          .first_of_tenant = slots / 2};
}

TrialLimits tenant_trials(const Pool& pool) {
  const std::uint32_t other = std::max(pool.capacity / 4, 2u);
  return {.suspect = std::max(pool.reserve / 4, 1u), .other = other, .first_of_tenant = other};
}

/// What a tenant may use shrinks as others come. Its webhooks that hang may then hold all of it.
/// They do not count against one that holds slots briefly and has none, nor against a trial.
std::uint32_t tenant_ceiling_of_idle(const AllowanceLimits& limits, const Pool& tenant) {
  return std::min(limits.tenant_in_flight_max, tenant.capacity + tenant.unproven);
}

/// As many slots as an idle webhook of the tenant may use.
SlotCeilings trial_ceilings(const AllowanceLimits& limits, const SlotRequest& request) {
  const std::uint32_t slots = limits.in_flight_max;
  const SlotRank rank = request.claim.rank;
  const TenantShare share = share_of(limits, request);
  const bool undivided = limits.tenant_in_flight_max >= slots;
  const bool open_to_tenant =
      undivided || request.tenant.unproven < tenant_trials(share.pool).of(rank, share.use);
  if (!open_to_tenant || request.total.unproven >= total_trials(slots).of(rank, share.use)) {
    return {.total = 0, .tenant = 0, .total_for_all = false, .shared_out = true};
  }
  const std::uint32_t tenant =
      undivided ? limits.tenant_in_flight_max : tenant_ceiling_of_idle(limits, share.pool);
  const bool all = undivided || share.use == Use::none;
  const std::uint32_t total = all ? slots : slots - newcomers_of(reserve_of(slots));
  return {.total = total, .tenant = tenant, .total_for_all = all, .shared_out = true};
}

}  // namespace

SlotCeilings slot_ceilings(const AllowanceLimits& limits, const SlotRequest& request) {
  const std::uint32_t slots = limits.in_flight_max;
  const std::uint32_t hard =
      request.claim.candidates == Candidates::all ? retries_max(limits) : limits.in_flight_max;
  if (slots < shared_slots_min) {
    return {.total = hard, .tenant = limits.tenant_in_flight_max};
  }
  if (request.claim.trial) {
    return trial_ceilings(limits, request);
  }
  // An operator who lets one tenant use all slots does not want them shared out.
  const bool undivided = limits.tenant_in_flight_max >= slots;
  if (undivided && request.claim.rank != SlotRank::suspect) {
    return {.total = hard, .tenant = limits.tenant_in_flight_max};
  }
  const TenantShare share = share_of(limits, request);
  const Pool all{
      .capacity = slots, .reserve = reserve_of(slots), .unproven = request.total.unproven};
  const std::uint32_t total = ceiling(request, all, share.use);
  const std::uint32_t tenant = request.claim.rank == SlotRank::idle
                                   ? tenant_ceiling_of_idle(limits, share.pool)
                                   : ceiling(request, share.pool, Use::more);
  const bool for_all = total == 0 || total >= hard || share.use == Use::none ||
                       request.claim.rank == SlotRank::proven;
  return {.total = std::min(total, hard),
          .tenant = tenant,
          .total_for_all = for_all,
          .shared_out = true};
}

SlotRank rank_hint(const AllowanceLimits& limits, std::uint32_t taken) {
  const std::uint32_t slots = limits.in_flight_max;
  if (taken < retries_max(limits)) {
    return widest_rank;
  }
  const bool shared_out = slots >= shared_slots_min && limits.tenant_in_flight_max < slots;
  const std::uint32_t reserve = shared_out ? reserve_of(slots) : 0;
  return taken < slots - reserve ? SlotRank::unknown : SlotRank::idle;
}

std::optional<SlotRank> trial_hint(const AllowanceLimits& limits, const SlotCounts& total) {
  const TrialLimits trials = total_trials(limits.in_flight_max);
  if (limits.in_flight_max < shared_slots_min || total.unproven >= trials.first_of_tenant) {
    return std::nullopt;
  }
  return total.unproven < trials.suspect ? SlotRank::suspect : SlotRank::doubtful;
}

}  // namespace postrider
