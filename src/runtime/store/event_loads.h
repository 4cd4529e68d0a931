// The events that a shard needs: cached, or to be read from the store for attempts that wait for
// them. Events of deliveries that will be attempted soon are read ahead, so that no attempt holds a
// slot while the store reads.
//
// Decides what to read; the caller asks the store. One io thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/model/delivery.h"
#include "engine/shard/messages.h"

#include "runtime/store/payload_cache.h"

namespace postrider {

class EventLoads {
 public:
  /// What to ask the store for.
  struct Load {
    std::vector<EventId> ids;
    std::size_t ahead = 0;  // How many of them no attempt waits for yet.
  };
  /// An attempt whose event was asked for. `event` is null if it could not be read.
  struct Arrival {
    StartAttempt start;
    EventRef event;
  };

  explicit EventLoads(std::size_t cache_bytes);

  void put(EventRef event) { cache_.put(std::move(event)); }
  /// Returns null if the event is not cached.
  [[nodiscard]] EventRef find(EventId id) { return cache_.find(id); }

  /// The event of this attempt is not cached.
  void wait_for_event(StartAttempt start);
  /// Removes and returns the attempts of these webhooks that wait.
  [[nodiscard]] std::vector<StartAttempt> take_waiting(ShardNumber shard);
  /// These deliveries will be attempted in about this order.
  void read_ahead(const std::vector<Delivery>& deliveries);

  /// Returns what to ask the store for now. Call again after each `arrived`.
  [[nodiscard]] Load take();
  /// The store has answered. Returns the attempts that waited for these events.
  [[nodiscard]] std::vector<Arrival> arrived(const Load& load, Result<std::vector<Event>> events);

 private:
  void trim_queue(std::size_t event_bytes);

  std::size_t ahead_bytes_max_;    // That events read ahead may take of the cache.
  std::size_t ahead_at_once_max_;  // Bounds what one answer of the store holds in memory (P6).
  PayloadCache cache_;
  /// The attempts that wait, by event. An event that is read ahead has an entry as well.
  std::unordered_map<EventId, std::vector<StartAttempt>> asked_;
  std::vector<EventId> wanted_;  // To ask for now.
  std::deque<EventId> queue_;    // To read ahead. Some may be cached or asked for by now.
  std::size_t reading_ahead_ = 0;
};

}  // namespace postrider
