#include "engine/shard/fair_share.h"

#include <algorithm>

#include "core/base/assert.h"

namespace postrider {

void FairShare::add(LaneIndex lane, TenantIndex tenant) {
  if (lane >= members_.size()) {
    members_.resize(lane + 1);
  }
  if (tenant >= level_.size()) {
    level_.resize(tenant + 1, slot_rank_count);
    for (Queue& each : queues_) {
      each.lanes_of.resize(level_.size());
    }
  }
  POSTRIDER_ASSERT(!members_[lane].present);
  members_[lane] = Member{.tenant = tenant, .ready = {}, .present = true};
}

void FairShare::remove(LaneIndex lane) {
  set_ready(lane, {});
  members_[lane].present = false;
}

/// The priorities of which a lane has an attempt with at least the right of `widest`.
PrioritySet FairShare::ready_for(const ReadyPriorities& ready, SlotRank rank, std::size_t widest) {
  if (static_cast<std::size_t>(rank) > widest) {
    return {};
  }
  const Candidates candidates = candidates_of(static_cast<SlotRank>(widest));
  return candidates == Candidates::all ? ready.all : ready.first_attempts;
}

void FairShare::set_ready(LaneIndex lane, const ReadyPriorities& ready, SlotRank rank) {
  POSTRIDER_ASSERT(lane < members_.size() && members_[lane].present);
  POSTRIDER_ASSERT((ready.first_attempts & ~ready.all).none());
  Member& member = members_[lane];
  if (member.ready == ready && (member.rank == rank || ready.all.none())) {
    return;
  }
  for (std::size_t widest = 0; widest < slot_rank_count; ++widest) {
    const PrioritySet from = ready_for(member.ready, member.rank, widest);
    const PrioritySet to = ready_for(ready, rank, widest);
    for (std::size_t priority = 0; from != to && priority < priority_count; ++priority) {
      if (from[priority] == to[priority]) {
        continue;
      }
      ++relinks_total_;
      Queue& changed = queue(widest, priority);
      RingHead& lanes = changed.lanes_of[member.tenant];
      to[priority] ? changed.lanes.push(lanes, lane) : changed.lanes.remove(lanes, lane);
      update_tenant(member.tenant, widest, priority);
    }
  }
  member.ready = ready;
  member.rank = rank;
}

void FairShare::update_tenant(TenantIndex tenant, std::size_t rank, std::size_t priority) {
  const std::size_t level = level_[tenant];
  // The lanes of the last rank that the tenant may use stand for all wider ranks.
  const std::size_t end = rank + 1 < level ? rank + 1 : slot_rank_count;
  for (std::size_t widest = rank; widest < end; ++widest) {
    const bool wanted =
        level > 0 && !queue(std::min(widest, level - 1), priority).lanes_of[tenant].empty();
    Queue& changed = queue(widest, priority);
    if (wanted == changed.tenants.contains(tenant)) {
      continue;
    }
    ++relinks_total_;
    wanted ? changed.tenants.push(changed.first_tenant, tenant)
           : changed.tenants.remove(changed.first_tenant, tenant);
  }
}

void FairShare::set_level(TenantIndex tenant, std::uint8_t level) {
  POSTRIDER_ASSERT(tenant < level_.size());
  const std::size_t from = std::min(level_[tenant], level);
  level_[tenant] = level;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    for (std::size_t rank = from; rank < slot_rank_count; ++rank) {
      update_tenant(tenant, rank, priority);
    }
  }
}

PrioritySet FairShare::available(std::size_t rank) const {
  PrioritySet result;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    result[priority] = !queue(rank, priority).first_tenant.empty();
  }
  return result;
}

std::optional<Turn> FairShare::next(SlotRank widest) const {
  const auto rank = static_cast<std::size_t>(widest);
  const PrioritySet ready = available(rank);
  if (ready.none()) {
    return std::nullopt;
  }
  const std::size_t priority = turns_.choose(ready);
  const TenantIndex tenant = queue(rank, priority).first_tenant.item;
  const std::size_t usable = std::min<std::size_t>(rank, level_[tenant] - 1);
  return Turn{.lane = queue(usable, priority).lanes_of[tenant].item,
              .tenant = tenant,
              .priority = static_cast<Priority>(priority),
              .widest = static_cast<SlotRank>(usable)};
}

void FairShare::take(const Turn& turn, SlotRank widest) {
  POSTRIDER_ASSERT(next(widest) == turn);
  const auto rank = static_cast<std::size_t>(widest);
  const auto chosen = static_cast<std::size_t>(turn.priority);
  turns_.take(available(rank), chosen);
  Queue& lanes = queue(static_cast<std::size_t>(turn.widest), chosen);
  lanes.lanes.rotate(lanes.lanes_of[turn.tenant]);
  Queue& used = queue(rank, chosen);
  used.tenants.rotate(used.first_tenant);
}

}  // namespace postrider
