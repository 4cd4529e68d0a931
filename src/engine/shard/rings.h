// Circular lists of small integers, for round robin. All operations are O(1) and allocate only when
// a new largest integer is added.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/assert.h"

namespace postrider {

/// The head of one ring: the item whose turn is next. Owned by the user of the ring.
struct RingHead {
  static constexpr std::uint32_t none = UINT32_MAX;

  std::uint32_t item = none;

  [[nodiscard]] bool empty() const { return item == none; }
};

/// The links of any number of rings. An item is in at most one ring at a time.
class Rings {
 public:
  [[nodiscard]] bool contains(std::uint32_t item) const {
    return item < links_.size() && links_[item].next != RingHead::none;
  }

  /// Adds the item at the end: its turn comes after all others.
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
      head.item = RingHead::none;
      return;
    }
    links_[links.previous].next = links.next;
    links_[links.next].previous = links.previous;
    if (head.item == item) {
      head.item = links.next;
    }
  }

  /// Moves the head to the end of the ring.
  void rotate(RingHead& head) const { head.item = links_[head.item].next; }

 private:
  struct Links {
    std::uint32_t previous = RingHead::none;
    std::uint32_t next = RingHead::none;
  };

  std::vector<Links> links_;
};

}  // namespace postrider
