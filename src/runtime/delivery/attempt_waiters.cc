#include "runtime/delivery/attempt_waiters.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace postrider {

void AttemptWaiters::add(const LaneDelivery& delivery, MonoTime deadline, Done done) {
  waiters_.insert_or_assign(delivery.delivery_id, Waiter{.done = std::move(done),
                                                         .deadline = deadline,
                                                         .shard = shard_of(delivery.webhook_id)});
}

void AttemptWaiters::attempted(const Settlement& settlement) {
  if (waiters_.empty()) {
    return;
  }
  const auto found = waiters_.find(settlement.delivery.id);
  if (found != waiters_.end()) {
    found->second.settlement = settlement;
  }
}

void AttemptWaiters::settled(const Settled& settled) {
  if (waiters_.empty()) {
    return;
  }
  for (const LaneDelivery& delivery : settled.deliveries) {
    const auto found = waiters_.find(delivery.delivery_id);
    if (found != waiters_.end() && found->second.settlement) {
      end(delivery.delivery_id, std::move(found->second.settlement));
    }
  }
}

void AttemptWaiters::fail(DeliveryId id, const Error& error) {
  end(id, tl::make_unexpected(error));
}

void AttemptWaiters::fail_all(const Error& error) {
  std::vector<DeliveryId> ids;
  ids.reserve(waiters_.size());
  for (const auto& [id, waiter] : waiters_) {
    ids.push_back(id);
  }
  for (const DeliveryId id : ids) {
    fail(id, error);
  }
}

void AttemptWaiters::handed_back(ShardNumber shard) {
  end_without_attempt([shard](const Waiter& waiter) { return waiter.shard == shard; });
}

void AttemptWaiters::expire(MonoTime now) {
  end_without_attempt([now](const Waiter& waiter) { return waiter.deadline <= now; });
}

template <class Which>
void AttemptWaiters::end_without_attempt(Which which) {
  std::vector<DeliveryId> ids;
  for (const auto& [id, waiter] : waiters_) {
    if (which(waiter)) {
      ids.push_back(id);
    }
  }
  for (const DeliveryId id : ids) {
    end(id, std::optional<Settlement>{});
  }
}

std::optional<MonoTime> AttemptWaiters::next_deadline() const {
  std::optional<MonoTime> next;
  for (const auto& [id, waiter] : waiters_) {
    next = next ? std::min(*next, waiter.deadline) : waiter.deadline;
  }
  return next;
}

void AttemptWaiters::end(DeliveryId id, Result<std::optional<Settlement>> result) {
  const auto found = waiters_.find(id);
  if (found == waiters_.end()) {
    return;
  }
  // Removed first: `done` may add another.
  const Waiter waiter = std::move(found->second);
  waiters_.erase(found);
  waiter.done(std::move(result));
}

}  // namespace postrider
