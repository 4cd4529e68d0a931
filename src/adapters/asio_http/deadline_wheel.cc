#include "adapters/asio_http/deadline_wheel.h"

#include <algorithm>

namespace postrider::asio_http {

void DeadlineWheel::set(DeadlineEntry& entry, MonoTime deadline) {
  cancel(entry);
  // Rounded up: an entry is never due before its deadline.
  entry.tick_ = std::max(ticks_before(deadline + (tick - Micros{1})), current_ + 1);
  slot(entry.tick_).push_back(entry);
}

void DeadlineWheel::cancel(DeadlineEntry& entry) {
  if (entry.is_linked()) {
    entry.unlink();
  }
}

void DeadlineWheel::advance(MonoTime now) {
  const std::int64_t target = ticks_before(now);
  if (target <= current_) {
    return;
  }
  const std::int64_t first = std::max(current_ + 1, target - slot_count + 1);
  current_ = target;

  Slot due;
  for (std::int64_t number = first; number <= target; ++number) {
    move_due(slot(number), due);
  }
  while (!due.empty()) {
    DeadlineEntry& entry = due.front();
    entry.unlink();
    entry.on_deadline();
  }
}

/// Entries that are not due wait for a later turn of the wheel.
void DeadlineWheel::move_due(Slot& from, Slot& due) const {
  for (auto next = from.begin(); next != from.end();) {
    DeadlineEntry& entry = *next++;
    if (entry.tick_ <= current_) {
      entry.unlink();
      due.push_back(entry);
    }
  }
}

}  // namespace postrider::asio_http
