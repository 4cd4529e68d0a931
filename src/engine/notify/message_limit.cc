#include "engine/notify/message_limit.h"

#include <algorithm>

namespace postrider {

void MessageLimit::sent(WallTime at) { sent_.insert(std::ranges::upper_bound(sent_, at), at); }

void MessageLimit::advance(WallTime now) {
  while (!sent_.empty() && now - sent_.front() >= period) {
    sent_.pop_front();
  }
}

WallTime MessageLimit::room_at(std::size_t max) const {
  return has_room(max) ? wall_time_min : later(sent_[sent_.size() - max], period);
}

bool MessageLimit::is_idle(WallTime now) const {
  return sent_.empty() || now - sent_.back() >= period;
}

}  // namespace postrider
