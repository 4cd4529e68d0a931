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
  members_[lane] = Member{.tenant = tenant, .ready = {}, .present = true};
}

void FairShare::remove(LaneIndex lane) {
  set_ready(lane, {});
  members_[lane].present = false;
}

void FairShare::set_ready(LaneIndex lane, const ReadyPriorities& ready) {
  POSTRIDER_ASSERT(lane < members_.size() && members_[lane].present);
  POSTRIDER_ASSERT((ready.first_attempts & ~ready.all).none());
  if (members_[lane].ready == ready) {
    return;
  }
  change(Candidates::all, lane, ready.all);
  change(Candidates::first_attempts, lane, ready.first_attempts);
  members_[lane].ready = ready;
}

void FairShare::change(Candidates candidates, LaneIndex lane, PrioritySet to) {
  const Member& member = members_[lane];
  const PrioritySet from =
      candidates == Candidates::all ? member.ready.all : member.ready.first_attempts;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    if (to[priority] && !from[priority]) {
      enter(queues_[queue_index(candidates, priority)], lane, member.tenant);
    } else if (!to[priority] && from[priority]) {
      leave(queues_[queue_index(candidates, priority)], lane, member.tenant);
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

PrioritySet FairShare::available(Candidates candidates) const {
  PrioritySet result;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    result[priority] = !queues_[queue_index(candidates, priority)].first_tenant.empty();
  }
  return result;
}

std::optional<Turn> FairShare::next(Candidates candidates) const {
  const PrioritySet ready = available(candidates);
  if (ready.none()) {
    return std::nullopt;
  }
  const std::size_t priority = turns_.choose(ready);
  const Queue& chosen = queues_[queue_index(candidates, priority)];
  const TenantIndex tenant = chosen.first_tenant.item;
  return Turn{.lane = chosen.lanes_of[tenant].item,
              .tenant = tenant,
              .priority = static_cast<Priority>(priority)};
}

void FairShare::take(const Turn& turn, Candidates candidates) {
  POSTRIDER_ASSERT(next(candidates) == turn);
  const auto chosen = static_cast<std::size_t>(turn.priority);
  turns_.take(available(candidates), chosen);
  Queue& used = queues_[queue_index(candidates, chosen)];
  used.lanes.rotate(used.lanes_of[turn.tenant]);
  used.tenants.rotate(used.first_tenant);
}

}  // namespace postrider
