// What the attempts to one origin (scheme, host and port) say about its webhooks that were never
// tried. Thousands of webhooks may be on one host: if it hangs, they need not all be tried to know.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/shard/slot_rank.h"

namespace postrider {

using OriginIndex = std::uint32_t;

class Origins {
 public:
  /// More concurrent attempts than this of unproven webhooks of one origin prove nothing more.
  explicit Origins(std::uint32_t trials_max) : trials_max_(trials_max) {}
  void set_trials_max(std::uint32_t trials_max) { trials_max_ = trials_max; }

  /// Call when a lane gets the URL. Gives its origin a small index, which is reused after its last
  /// lane and attempt have left.
  [[nodiscard]] OriginIndex join(const std::string& url);
  void leave(OriginIndex index);

  void attempt_started(OriginIndex index, bool unproven);
  void attempt_slow(OriginIndex index) { origins_[index].hangs = true; }
  /// `soon`: it held its slot briefly.
  void attempt_ended(OriginIndex index, bool unproven, bool soon);
  /// The attempt was not made.
  void attempt_abandoned(OriginIndex index, bool unproven);

  /// A webhook of the origin that was never tried must be expected to hold its slot long.
  [[nodiscard]] bool doubtful(OriginIndex index) const {
    return origins_[index].hangs || origins_[index].trials >= trials_max_;
  }
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }

 private:
  struct Origin {
    std::string name;
    std::uint32_t users = 0;   // Lanes and attempts in flight.
    std::uint32_t trials = 0;  // Attempts in flight of unproven webhooks.
    bool hangs = false;        // The latest evidence.
  };

  std::uint32_t trials_max_;
  std::vector<Origin> origins_;
  std::vector<OriginIndex> free_;
  std::unordered_map<std::string, OriginIndex> by_name_;
};

}  // namespace postrider
