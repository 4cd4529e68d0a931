#include "runtime/limits/slot_pool.h"

#include <algorithm>

#include "core/base/assert.h"

namespace postrider {

bool SlotPool::try_take(std::uint32_t max) {
  std::uint32_t taken = taken_.load();
  while (taken < max) {
    if (taken_.compare_exchange_weak(taken, taken + 1)) {
      return true;
    }
  }
  return false;
}

bool SlotPool::take(Place& place, std::uint32_t max) {
  if (!place.waits && try_take(max)) {
    return true;
  }
  const std::lock_guard lock{mutex_};
  if (!place.waits) {
    place.waits = true;
    queue_.push_back({.worker = place.worker, .max = max});
    waiter_count_.store(static_cast<std::uint32_t>(queue_.size()));
  }
  const auto waiter = std::ranges::find(queue_, place.worker, &Waiter::worker);
  POSTRIDER_ASSERT(waiter != queue_.end());
  // The worker asks for several attempts in turn. It waits for the one that may use most slots.
  waiter->max = waiter->has_slot ? max : std::max(waiter->max, max);
  const bool served = waiter->has_slot ? taken_.load() <= max : try_take(max);
  if (served) {
    remove(place.worker);
    place.waits = false;
  } else if (waiter->has_slot) {
    // The slot was reserved with a larger `max` than this attempt may use. Pass it on, but not back
    // to this worker, which would not be woken.
    waiter->has_slot = false;
    waiter->max = 0;
    pass_on(place.worker);
    waiter->max = max;
  }
  return served;
}

void SlotPool::remove(std::size_t worker) {
  std::erase_if(queue_, [worker](const Waiter& each) { return each.worker == worker; });
  waiter_count_.store(static_cast<std::uint32_t>(queue_.size()));
}

void SlotPool::give_back(const Place& place, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (waiter_count_.load() > 0) {
      const std::lock_guard lock{mutex_};
      pass_on(place.worker);
      continue;
    }
    const std::uint32_t before = taken_.fetch_sub(1);
    POSTRIDER_ASSERT(before > 0);
    if (waiter_count_.load() > 0) {
      const std::lock_guard lock{mutex_};
      serve_queue(place.worker);
    }
  }
}

/// Reserves a taken slot for the first worker that may have it, without freeing it in between:
/// otherwise the worker that gives it back would be the first to take it again.
void SlotPool::pass_on(std::size_t giver) {
  const auto next = std::ranges::find_if(
      queue_, [this](const Waiter& each) { return !each.has_slot && taken_.load() <= each.max; });
  if (next == queue_.end()) {
    taken_.fetch_sub(1);
    return;
  }
  next->has_slot = true;
  if (next->worker != giver) {
    wake_(next->worker);
  }
}

/// Slots became free while a worker was joining the queue.
void SlotPool::serve_queue(std::size_t giver) {
  for (Waiter& waiter : queue_) {
    if (!waiter.has_slot && try_take(waiter.max)) {
      waiter.has_slot = true;
      if (waiter.worker != giver) {
        wake_(waiter.worker);
      }
    }
  }
}

void SlotPool::wake_waiting() {
  const std::lock_guard lock{mutex_};
  for (const Waiter& waiter : queue_) {
    if (!waiter.has_slot) {
      wake_(waiter.worker);
    }
  }
}

void SlotPool::leave(Place& place) {
  if (!place.waits) {
    return;
  }
  place.waits = false;
  const std::lock_guard lock{mutex_};
  const auto waiter = std::ranges::find(queue_, place.worker, &Waiter::worker);
  POSTRIDER_ASSERT(waiter != queue_.end());
  const bool has_slot = waiter->has_slot;
  remove(place.worker);
  if (has_slot) {
    pass_on(place.worker);
  }
}

}  // namespace postrider
