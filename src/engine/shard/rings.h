// Circular lists over small integers, for taking turns. All operations are O(1) and allocate
// nothing once the integers are known.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/assert.h"

namespace postrider {

/// The one whose turn is next; the others follow it. Owned by whoever owns the list.
struct RingHead {
  static constexpr std::uint32_t nobody = UINT32_MAX;

  std::uint32_t item = nobody;

  [[nodiscard]] bool empty() const { return item == nobody; }
};

/// The links of any number of rings. An item is in at most one of them at a time.
class Rings {
 public:
  [[nodiscard]] bool contains(std::uint32_t item) const {
    return item < links_.size() && links_[item].next != RingHead::nobody;
  }

  /// Behind everyone who waits for a turn already.
  void push(RingHead& head, std::uint32_t item) {
    POSTRIDER_ASSERT(!contains(item));
    if (item >= links_.size()) {
      links_.resize(item + 1);
    }
    if (head.empty()) {
      links_[item] = {.previous = item, .next = item};
      head.item = item;
      return;
    }
    const std::uint32_t last = links_[head.item].previous;
    links_[item] = {.previous = last, .next = head.item};
    links_[last].next = item;
    links_[head.item].previous = item;
  }

  void remove(RingHead& head, std::uint32_t item) {
    POSTRIDER_ASSERT(contains(item));
    const Links links = links_[item];
    links_[item] = {};
    if (links.next == item) {
      head.item = RingHead::nobody;
      return;
    }
    links_[links.previous].next = links.next;
    links_[links.next].previous = links.previous;
    if (head.item == item) {
      head.item = links.next;
    }
  }

  /// The one in front has had its turn.
  void rotate(RingHead& head) const { head.item = links_[head.item].next; }

 private:
  struct Links {
    std::uint32_t previous = RingHead::nobody;
    std::uint32_t next = RingHead::nobody;
  };

  std::vector<Links> links_;
};

}  // namespace postrider
