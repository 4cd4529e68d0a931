#include "adapters/asio_http/deadline_wheel.h"

#include <algorithm>

namespace postrider::asio_http {

void DeadlineWheel::set(DeadlineEntry& entry, MonoTime deadline) {
  drop(entry);
  // Rounded up: never told before the time is really up.
  entry.tick_ = std::max(ticks_before(deadline + (tick - Micros{1})), current_ + 1);
  slot(entry.tick_).push_back(entry);
}

void DeadlineWheel::drop(DeadlineEntry& entry) {
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
    Slot& candidates = slot(number);
    for (auto next = candidates.begin(); next != candidates.end();) {
      DeadlineEntry& entry = *next++;
      if (entry.tick_ <= target) {  // Others wait for a later turn of the wheel.
        entry.unlink();
        due.push_back(entry);
      }
    }
  }
  while (!due.empty()) {
    DeadlineEntry& entry = due.front();
    entry.unlink();
    entry.on_deadline();
  }
}

}  // namespace postrider::asio_http
