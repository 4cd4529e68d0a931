#include "engine/shard/fair_share.h"

#include "core/base/assert.h"

namespace postrider {

void FairShare::add(LaneIndex lane, TenantIndex tenant) {
  if (lane >= members_.size()) {
    members_.resize(lane + 1);
  }
  if (tenant >= parked_.size()) {
    parked_.resize(tenant + 1);
    for (Queue& queue : queues_) {
      queue.lanes_of.resize(parked_.size());
    }
  }
  POSTRIDER_ASSERT(!members_[lane].present);
  members_[lane] = Member{.tenant = tenant, .offer = {}, .present = true};
}

void FairShare::remove(LaneIndex lane) {
  offer(lane, {});
  members_[lane].present = false;
}

void FairShare::offer(LaneIndex lane, const Offer& offer) {
  POSTRIDER_ASSERT(lane < members_.size() && members_[lane].present);
  POSTRIDER_ASSERT((offer.first_attempts & ~offer.all).none());
  if (members_[lane].offer == offer) {
    return;
  }
  change(Candidates::all, lane, offer.all);
  change(Candidates::first_attempts, lane, offer.first_attempts);
  members_[lane].offer = offer;
}

void FairShare::change(Candidates candidates, LaneIndex lane, PrioritySet to) {
  const Member& member = members_[lane];
  const PrioritySet from =
      candidates == Candidates::all ? member.offer.all : member.offer.first_attempts;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    if (to[priority] && !from[priority]) {
      enter(queues_[number(candidates, priority)], lane, member.tenant);
    } else if (!to[priority] && from[priority]) {
      leave(queues_[number(candidates, priority)], lane, member.tenant);
    }
  }
}

void FairShare::enter(Queue& queue, LaneIndex lane, TenantIndex tenant) {
  ++relinks_total_;
  queue.lanes.push(queue.lanes_of[tenant], lane);
  if (!parked_[tenant] && !queue.tenants.contains(tenant)) {
    queue.tenants.push(queue.first_tenant, tenant);
  }
}

void FairShare::leave(Queue& queue, LaneIndex lane, TenantIndex tenant) {
  ++relinks_total_;
  queue.lanes.remove(queue.lanes_of[tenant], lane);
  if (queue.lanes_of[tenant].empty() && queue.tenants.contains(tenant)) {
    queue.tenants.remove(queue.first_tenant, tenant);
  }
}

void FairShare::park(TenantIndex tenant) {
  POSTRIDER_ASSERT(tenant < parked_.size() && !parked_[tenant]);
  parked_[tenant] = true;
  for (Queue& queue : queues_) {
    if (queue.tenants.contains(tenant)) {
      ++relinks_total_;
      queue.tenants.remove(queue.first_tenant, tenant);
    }
  }
}

void FairShare::unpark(TenantIndex tenant) {
  POSTRIDER_ASSERT(tenant < parked_.size() && parked_[tenant]);
  parked_[tenant] = false;
  for (Queue& queue : queues_) {
    if (!queue.lanes_of[tenant].empty()) {
      ++relinks_total_;
      queue.tenants.push(queue.first_tenant, tenant);
    }
  }
}

PrioritySet FairShare::offered(Candidates candidates) const {
  PrioritySet result;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    result[priority] = !queues_[number(candidates, priority)].first_tenant.empty();
  }
  return result;
}

/// The priority that is furthest behind its share; the higher one when two are equally far.
std::size_t FairShare::choose(PrioritySet offered) const {
  std::size_t best = priority_count;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    if (!offered[priority]) {
      continue;
    }
    if (best == priority_count ||
        credit_[priority] + priority_weights[priority] > credit_[best] + priority_weights[best]) {
      best = priority;
    }
  }
  POSTRIDER_ASSERT(best < priority_count);
  return best;
}

std::optional<Turn> FairShare::next(Candidates candidates) const {
  const PrioritySet available = offered(candidates);
  if (available.none()) {
    return std::nullopt;
  }
  const std::size_t priority = choose(available);
  const Queue& chosen = queues_[number(candidates, priority)];
  const TenantIndex tenant = chosen.first_tenant.item;
  return Turn{.lane = chosen.lanes_of[tenant].item,
              .tenant = tenant,
              .priority = static_cast<Priority>(priority)};
}

void FairShare::take(const Turn& turn, Candidates candidates) {
  POSTRIDER_ASSERT(next(candidates) == turn);
  // Only those who could have been chosen earn credit; together they pay for the one who was.
  const PrioritySet available = offered(candidates);
  const auto chosen = static_cast<std::size_t>(turn.priority);
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    if (available[priority]) {
      credit_[priority] += priority_weights[priority];
      credit_[chosen] -= priority_weights[priority];
    }
  }
  Queue& used = queues_[number(candidates, chosen)];
  used.lanes.rotate(used.lanes_of[turn.tenant]);
  used.tenants.rotate(used.first_tenant);
}

}  // namespace postrider
