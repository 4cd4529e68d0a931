// Counters of deliveries and attempts over a period: of one webhook, of a tenant, or of all.
#pragma once

#include <array>
#include <cstdint>

#include "core/model/attempt.h"
#include "core/model/duration_histogram.h"

namespace postrider {

struct DeliveryTally {
  std::uint64_t published = 0;   // Events. For a webhook, the events it matched.
  std::uint64_t deliveries = 0;  // Created by publishing.
  std::uint64_t attempts = 0;
  std::uint64_t succeeded = 0;  // Attempts.
  std::uint64_t retries = 0;    // Attempts after a delivery's first.
  std::uint64_t dead_letters = 0;
  std::array<std::uint32_t, failure_category_count> failures{};  // Attempts by category.
  Micros duration_total{0};                                      // Sum over all attempts.
  DurationHistogram durations;

  void add(const Attempt& attempt);
  void add(const DeliveryTally& other);

  [[nodiscard]] bool empty() const {
    return published == 0 && deliveries == 0 && attempts == 0 && dead_letters == 0;
  }
  [[nodiscard]] std::uint64_t failed() const { return attempts - succeeded; }

  bool operator==(const DeliveryTally&) const = default;
};

}  // namespace postrider
