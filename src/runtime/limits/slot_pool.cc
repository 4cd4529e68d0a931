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
    line_.push_back({.worker = place.worker, .max = max});
    waiter_count_.store(static_cast<std::uint32_t>(line_.size()));
  }
  const auto waiter = std::ranges::find(line_, place.worker, &Waiter::worker);
  POSTRIDER_ASSERT(waiter != line_.end());
  waiter->max = max;
  const bool served = waiter->kept ? taken_.load() <= max : try_take(max);
  if (served) {
    remove(place.worker);
    place.waits = false;
  } else if (waiter->kept) {
    // It was for an attempt that may have more than this one. Not to be had again by itself: nobody
    // would wake it.
    waiter->kept = false;
    waiter->max = 0;
    pass_on(place.worker);
    waiter->max = max;
  }
  return served;
}

void SlotPool::remove(std::size_t worker) {
  std::erase_if(line_, [worker](const Waiter& each) { return each.worker == worker; });
  waiter_count_.store(static_cast<std::uint32_t>(line_.size()));
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
      serve_line(place.worker);
    }
  }
}

/// A slot that counts as taken goes to the first who may have it, without being free in between:
/// whoever gives it back would be the quickest to take it again.
void SlotPool::pass_on(std::size_t giver) {
  const auto next = std::ranges::find_if(
      line_, [this](const Waiter& each) { return !each.kept && taken_.load() <= each.max; });
  if (next == line_.end()) {
    taken_.fetch_sub(1);
    return;
  }
  next->kept = true;
  if (next->worker != giver) {
    wake_(next->worker);
  }
}

/// Slots became free while somebody was just joining the line.
void SlotPool::serve_line(std::size_t giver) {
  for (Waiter& waiter : line_) {
    if (!waiter.kept && try_take(waiter.max)) {
      waiter.kept = true;
      if (waiter.worker != giver) {
        wake_(waiter.worker);
      }
    }
  }
}

void SlotPool::leave(Place& place) {
  if (!place.waits) {
    return;
  }
  place.waits = false;
  const std::lock_guard lock{mutex_};
  const auto waiter = std::ranges::find(line_, place.worker, &Waiter::worker);
  POSTRIDER_ASSERT(waiter != line_.end());
  const bool kept = waiter->kept;
  remove(place.worker);
  if (kept) {
    pass_on(place.worker);
  }
}

}  // namespace postrider
