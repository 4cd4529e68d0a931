// Events whose deliveries are about to be sent, shared between them and bounded in bytes. What
// falls out is read from the store again.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>

#include "core/model/event.h"

namespace postrider {

using EventRef = std::shared_ptr<const Event>;

/// Owned by one io thread.
class PayloadCache {
 public:
  explicit PayloadCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  void put(EventRef event);
  [[nodiscard]] EventRef find(EventId id);  // Null when it is not here.

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  using Entries = std::list<EventRef>;  // Most recently used first.

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  Entries entries_;
  std::unordered_map<EventId, Entries::iterator> index_;
};

}  // namespace postrider
