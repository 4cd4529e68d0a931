// The lanes whose rate limits were used, changed or reached since the last report.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/shard/fair_share.h"

namespace postrider {

class RateReports {
 public:
  struct Report {
    LaneIndex lane = 0;
    std::uint32_t hits = 0;  // How often a rate limit made the lane wait.
  };

  void add(LaneIndex lane, std::uint32_t hits) {
    if (lane >= places_.size()) {
      places_.resize(lane + 1, none);
    }
    std::uint32_t& place = places_[lane];
    if (place == none) {
      place = static_cast<std::uint32_t>(reports_.size());
      reports_.push_back({.lane = lane});
    }
    reports_[place].hits += hits;
  }

  /// The lane is removed. Its index may be reused.
  void forget(LaneIndex lane) {
    if (lane < places_.size() && places_[lane] != none) {
      reports_[places_[lane]].hits = 0;
    }
  }

  /// Each lane once.
  [[nodiscard]] std::vector<Report> take() {
    for (const Report& report : reports_) {
      places_[report.lane] = none;
    }
    return std::exchange(reports_, {});
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  std::vector<Report> reports_;
  std::vector<std::uint32_t> places_;  // In `reports_`, by lane.
};

}  // namespace postrider
