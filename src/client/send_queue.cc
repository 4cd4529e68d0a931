#include "client/send_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/assert.h"

namespace postrider::client {

bool SendQueue::has_room_for(std::size_t bytes) const {
  return events_ < limits_.events_max && bytes <= limits_.bytes_max - bytes_;
}

void SendQueue::add(QueuedEvent event, MonoTime now) {
  POSTRIDER_ASSERT(has_room_for(event.text.size()));
  ++events_;
  bytes_ += event.text.size();
  fresh_bytes_ += event.text.size();
  fresh_.push_back({std::move(event), now});
}

SendQueue::Next SendQueue::next(MonoTime now) {
  if (now < paused_until_) {
    return WaitUntil{paused_until_};
  }
  if (!ready_.empty()) {
    Batch batch = std::move(ready_.front());
    ready_.pop_front();
    return batch;
  }
  const auto soonest = std::ranges::min_element(postponed_, {}, &Postponed::due);
  if (soonest != postponed_.end() && soonest->due <= now) {
    Batch batch = std::move(soonest->batch);
    postponed_.erase(soonest);
    return batch;
  }
  if (fresh_.empty()) {
    return soonest == postponed_.end() ? Next{Idle{}} : Next{WaitUntil{soonest->due}};
  }
  const MonoTime due = fresh_.front().since + limits_.batch_delay;
  if (hurry_ || due <= now || is_batch_full()) {
    return take_fresh();
  }
  return WaitUntil{soonest == postponed_.end() ? due : std::min(due, soonest->due)};
}

bool SendQueue::is_batch_full() const {
  return fresh_.size() >= limits_.batch_events_max || fresh_bytes_ >= limits_.batch_bytes_max;
}

Batch SendQueue::take_fresh() {
  Batch batch;
  std::size_t bytes = 0;
  while (!fresh_.empty() && batch.events.size() < limits_.batch_events_max) {
    const std::size_t more = fresh_.front().event.text.size();
    // An event that is larger than a batch goes alone.
    if (!batch.events.empty() && bytes + more > limits_.batch_bytes_max) {
      break;
    }
    bytes += more;
    batch.events.push_back(std::move(fresh_.front().event));
    fresh_.pop_front();
  }
  fresh_bytes_ -= bytes;
  return batch;
}

void SendQueue::settle(const QueuedEvent& event) {
  POSTRIDER_ASSERT(events_ > 0);
  POSTRIDER_ASSERT(bytes_ >= event.text.size());
  --events_;
  bytes_ -= event.text.size();
}

void SendQueue::repeat(Batch batch, MonoTime due) {
  ready_.push_front(std::move(batch));
  paused_until_ = due;
}

void SendQueue::postpone(Batch batch, MonoTime due) {
  ++batch.postponed;
  postponed_.push_back({std::move(batch), due});
}

void SendQueue::split(Batch batch) {
  POSTRIDER_ASSERT(batch.events.size() >= 2);
  const auto middle = batch.events.begin() + static_cast<std::ptrdiff_t>(batch.events.size() / 2);
  Batch second{
      .events = {std::make_move_iterator(middle), std::make_move_iterator(batch.events.end())},
      .postponed = batch.postponed};
  batch.events.erase(middle, batch.events.end());
  ready_.push_front(std::move(second));
  ready_.push_front(std::move(batch));
}

}  // namespace postrider::client
