#include "runtime/store/payload_cache.h"

#include <utility>

namespace postrider {

std::size_t footprint(const Event& event) {
  return event.data.size() + event.metadata.size() + event.type.size() + 512;
}

void PayloadCache::put(EventRef event) {
  const EventId id = event->id;
  if (index_.contains(id)) {
    return;
  }
  bytes_ += footprint(*event);
  entries_.push_front(std::move(event));
  index_.emplace(id, entries_.begin());
  while (bytes_ > bytes_max_ && entries_.size() > 1) {
    bytes_ -= footprint(*entries_.back());
    index_.erase(entries_.back()->id);
    entries_.pop_back();
  }
}

EventRef PayloadCache::find(EventId id) {
  const auto found = index_.find(id);
  if (found == index_.end()) {
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return entries_.front();
}

}  // namespace postrider
