// Counters of deliveries and attempts over a period: of one webhook, of a tenant, or of all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/model/attempt.h"
#include "core/model/delivery.h"
#include "core/model/duration_histogram.h"

namespace postrider {

struct DeliveryTally {
  std::uint64_t published = 0;   // Events. For a webhook, the events it matched.
  std::uint64_t deliveries = 0;  // Created by publishing.
  std::uint64_t attempts = 0;
  std::uint64_t succeeded = 0;        // Attempts.
  std::uint64_t retries = 0;          // Attempts after a delivery's first.
  std::uint64_t dead_letters = 0;     // Deliveries that were given up, each time it happened.
  std::uint64_t now_succeeded = 0;    // Deliveries that settled in the period and have succeeded.
  std::uint64_t now_dead_letter = 0;  // Deliveries that settled in the period and are dead letters.
  std::array<std::uint32_t, failure_category_count> failures{};  // Attempts by category.
  Micros duration_total{0};                                      // Sum over all attempts.
  DurationHistogram durations;

  void add(const Attempt& attempt);
  /// Counts a delivery that has reached this state. Only succeeded and dead_letter are counted.
  void add_settled(DeliveryState state);
  /// A delivery that was counted leaves the state. False if none is counted.
  bool remove_settled(DeliveryState state);
  void add(const DeliveryTally& other);

  [[nodiscard]] bool empty() const {
    return published == 0 && deliveries == 0 && attempts == 0 && dead_letters == 0 &&
           now_succeeded == 0 && now_dead_letter == 0;
  }
  [[nodiscard]] std::uint64_t failed() const { return attempts - succeeded; }
  /// The part of the attempts that succeeded. None without attempts.
  [[nodiscard]] std::optional<double> attempt_success_rate() const;
  /// The part of the settled deliveries that succeeded. None if none has settled.
  [[nodiscard]] std::optional<double> delivery_success_rate() const;

  bool operator==(const DeliveryTally&) const = default;
};

}  // namespace postrider
