#include "runtime/store/event_loads.h"

#include <algorithm>
#include <utility>

namespace postrider {
namespace {

constexpr std::size_t ahead_at_once_most = 128;
constexpr std::size_t queue_max = 4'096;
constexpr std::size_t event_bytes_assumed = 65'536;  // Of an event that has not been read yet.

}  // namespace

EventLoads::EventLoads(std::size_t cache_bytes)
    : ahead_bytes_max_(cache_bytes / 4),
      ahead_at_once_max_(std::min(ahead_bytes_max_ / event_bytes_assumed, ahead_at_once_most)),
      cache_(cache_bytes) {}

void EventLoads::wait_for_event(StartAttempt start) {
  const EventId id = start.delivery.event_id;
  const auto [entry, is_new] = asked_.try_emplace(id);
  entry->second.push_back(std::move(start));
  if (is_new) {
    wanted_.push_back(id);
  }
}

std::vector<StartAttempt> EventLoads::take_waiting(ShardNumber shard) {
  std::vector<StartAttempt> taken;
  for (auto& [id, starts] : asked_) {
    std::erase_if(starts, [&](StartAttempt& start) {
      const bool is_of_shard = shard_of(start.delivery.webhook_id) == shard;
      if (is_of_shard) {
        taken.push_back(std::move(start));
      }
      return is_of_shard;
    });
  }
  // The map is unordered, and equal inputs must give equal outputs.
  std::ranges::sort(taken, {}, [](const StartAttempt& start) { return start.delivery.id; });
  return taken;
}

void EventLoads::read_ahead(const std::vector<Delivery>& deliveries) {
  for (const Delivery& delivery : deliveries) {
    if (queue_.size() >= queue_max) {
      return;
    }
    if (!cache_.contains(delivery.event_id)) {
      queue_.push_back(delivery.event_id);
    }
  }
}

EventLoads::Load EventLoads::take() {
  Load load{.ids = std::exchange(wanted_, {})};
  while (!queue_.empty() && reading_ahead_ < ahead_at_once_max_) {
    const EventId id = queue_.front();
    queue_.pop_front();
    if (!cache_.contains(id) && asked_.try_emplace(id).second) {
      load.ids.push_back(id);
      ++load.ahead;
      ++reading_ahead_;
    }
  }
  return load;
}

std::vector<EventLoads::Arrival> EventLoads::arrived(const Load& load,
                                                     Result<std::vector<Event>> events) {
  reading_ahead_ -= load.ahead;
  // Also held here, because the cache may be too small for all of them at once.
  std::unordered_map<EventId, EventRef> found;
  std::size_t bytes = 0;
  if (events) {
    for (Event& event : *events) {
      bytes += footprint(event);
      const auto shared = std::make_shared<const Event>(std::move(event));
      found.emplace(shared->id, shared);
      cache_.put(shared);
    }
  }
  if (!found.empty()) {
    trim_queue(bytes / found.size());
  }
  std::vector<Arrival> arrivals;
  for (const EventId& id : load.ids) {
    const auto event = found.find(id);
    auto attempts = asked_.extract(id);
    for (StartAttempt& start : attempts.mapped()) {
      arrivals.push_back({std::move(start), event == found.end() ? nullptr : event->second});
    }
  }
  return arrivals;
}

/// Events read ahead must not evict each other before they are used.
void EventLoads::trim_queue(std::size_t event_bytes) {
  queue_.resize(std::min(queue_.size(), ahead_bytes_max_ / std::max<std::size_t>(event_bytes, 1)));
}

}  // namespace postrider
