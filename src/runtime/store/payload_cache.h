// An LRU cache of events whose deliveries are about to be sent, bounded in bytes. Events that were
// evicted are read from the store again.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>

#include "core/model/event.h"

namespace postrider {

using EventRef = std::shared_ptr<const Event>;

/// Estimates the memory of an event and its entry in the cache.
[[nodiscard]] std::size_t footprint(const Event& event);

/// One io thread only.
class PayloadCache {
 public:
  explicit PayloadCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// Keeps at least the latest event, however large.
  void put(EventRef event);
  /// Returns null if the event is not cached.
  [[nodiscard]] EventRef find(EventId id);

  /// Does not count as a use.
  [[nodiscard]] bool contains(EventId id) const { return index_.contains(id); }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  using Entries = std::list<EventRef>;  // Most recently used first.

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  Entries entries_;
  std::unordered_map<EventId, Entries::iterator> index_;
};

}  // namespace postrider
