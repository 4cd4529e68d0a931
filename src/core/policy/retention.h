// When old things may go. Pure.
#pragma once

#include <optional>
#include <span>

#include "core/base/time.h"
#include "core/model/delivery.h"

namespace postrider {

/// How long things are kept. Zero: for good.
struct RetentionAges {
  Millis events = std::chrono::hours{24 * 90};        // With their deliveries and attempts.
  Millis dead_letters = std::chrono::hours{24 * 30};  // Since they were given up.

  bool operator==(const RetentionAges&) const = default;
};

/// The ages at a moment: what is not younger than these may go. None: nothing may.
struct RetentionCutoffs {
  WallTime now;
  std::optional<WallTime> events;
  std::optional<WallTime> dead_letters;
};

[[nodiscard]] RetentionCutoffs cutoffs_at(const RetentionAges& ages, WallTime now);

/// What retention looks at in a delivery.
struct DeliveryStanding {
  DeliveryState state = DeliveryState::pending;
  std::optional<WallTime> completed_at;
};

/// A dead letter goes by itself when its age has come.
[[nodiscard]] bool dead_letter_may_go(const DeliveryStanding& delivery,
                                      const RetentionCutoffs& cutoffs);

/// An event goes with all its deliveries when it is old enough, none of them waits, and no dead
/// letter among them is younger than its own age.
[[nodiscard]] bool event_may_go(WallTime created_at, std::span<const DeliveryStanding> deliveries,
                                const RetentionCutoffs& cutoffs);

}  // namespace postrider
