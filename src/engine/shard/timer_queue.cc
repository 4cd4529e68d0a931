#include "engine/shard/timer_queue.h"

#include "core/base/assert.h"

namespace postrider {

template <class Time>
void TimerQueue<Time>::set(std::uint32_t item, std::optional<Time> at) {
  if (item >= positions_.size()) {
    positions_.resize(item + 1, absent);
  }
  const std::uint32_t position = positions_[item];
  if (position != absent) {
    if (at && heap_[position].at == *at) {
      return;
    }
    remove(position);
  }
  if (at) {
    heap_.emplace_back();
    sift_up(heap_.size() - 1, Slot{.at = *at, .item = item});
  }
}

template <class Time>
std::optional<Time> TimerQueue<Time>::next() const {
  return heap_.empty() ? std::nullopt : std::optional{heap_.front().at};
}

template <class Time>
std::optional<std::uint32_t> TimerQueue<Time>::pop_due(Time now) {
  if (heap_.empty() || heap_.front().at > now) {
    return std::nullopt;
  }
  const std::uint32_t item = heap_.front().item;
  remove(0);
  return item;
}

template <class Time>
void TimerQueue<Time>::remove(std::size_t position) {
  POSTRIDER_ASSERT(position < heap_.size());
  positions_[heap_[position].item] = absent;
  const Slot last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) {
    return;
  }
  // The last slot fills the gap and moves up or down from there.
  if (position > 0 && last < heap_[(position - 1) / 2]) {
    sift_up(position, last);
  } else {
    sift_down(position, last);
  }
}

template <class Time>
void TimerQueue<Time>::sift_up(std::size_t position, Slot slot) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / 2;
    if (heap_[parent] <= slot) {
      break;
    }
    put(position, heap_[parent]);
    position = parent;
  }
  put(position, slot);
}

template <class Time>
void TimerQueue<Time>::sift_down(std::size_t position, Slot slot) {
  for (;;) {
    std::size_t child = 2 * position + 1;
    if (child >= heap_.size()) {
      break;
    }
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) {
      ++child;
    }
    if (slot <= heap_[child]) {
      break;
    }
    put(position, heap_[child]);
    position = child;
  }
  put(position, slot);
}

template <class Time>
void TimerQueue<Time>::put(std::size_t position, Slot slot) {
  heap_[position] = slot;
  positions_[slot.item] = static_cast<std::uint32_t>(position);
}

template class TimerQueue<WallTime>;
template class TimerQueue<MonoTime>;

}  // namespace postrider
