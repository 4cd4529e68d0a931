// Decides which events, dead letters and removed webhooks have expired and may be removed. Pure.
#pragma once

#include <optional>
#include <span>

#include "core/base/time.h"
#include "core/model/delivery.h"

namespace postrider {

/// How long data is kept. Zero: forever.
struct RetentionAges {
  Millis events = std::chrono::hours{24 * 90};        // With their deliveries and attempts.
  Millis dead_letters = std::chrono::hours{24 * 30};  // Since the delivery was given up.
  /// The history of a webhook, since it was removed.
  Millis removed_webhooks = std::chrono::hours{24 * 90};

  bool operator==(const RetentionAges&) const = default;
};

/// The ages as times: what is as old as these or older may be removed. None: nothing may.
struct RetentionCutoffs {
  WallTime now;
  std::optional<WallTime> events;
  std::optional<WallTime> dead_letters;
  std::optional<WallTime> removed_webhooks;
};

[[nodiscard]] RetentionCutoffs cutoffs_at(const RetentionAges& ages, WallTime now);

/// The fields of a delivery that retention depends on.
struct DeliveryCompletion {
  DeliveryState state = DeliveryState::pending;
  std::optional<WallTime> completed_at;
};

/// True if a dead letter may be removed by itself, before its event.
[[nodiscard]] bool dead_letter_is_expired(const DeliveryCompletion& delivery,
                                          const RetentionCutoffs& cutoffs);

/// True if an event may be removed together with all its deliveries: it is old enough, none of its
/// deliveries is waiting, and all its dead letters have expired.
[[nodiscard]] bool event_is_expired(WallTime created_at,
                                    std::span<const DeliveryCompletion> deliveries,
                                    const RetentionCutoffs& cutoffs);

}  // namespace postrider
