// One event on its way to one webhook: a state machine.
//
//     pending -> in_flight -> succeeded
//                in_flight -> retrying -> in_flight
//                in_flight -> dead_letter        (also: retried by hand: dead_letter -> pending)
//     pending | retrying -> cancelled         (also: discarded by hand: dead_letter -> cancelled)
//
// `in_flight` and `blocked` are never stored: they are what the engine is doing with a pending or
// retrying delivery right now. After a crash such a delivery is simply pending or retrying again
// (P2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/model/event.h"

namespace postrider {

enum class DeliveryState : std::uint8_t { pending, retrying, succeeded, dead_letter, cancelled };

[[nodiscard]] std::string_view to_string(DeliveryState state);
[[nodiscard]] std::optional<DeliveryState> parse_delivery_state(std::string_view text);

/// Waiting to be attempted; everything else is final until a person revives it.
[[nodiscard]] constexpr bool is_waiting(DeliveryState state) {
  return state == DeliveryState::pending || state == DeliveryState::retrying;
}

/// May a delivery move from `from` to `to`? The one table of legal moves. `retrying` to itself is
/// one: the next attempt failed, too.
[[nodiscard]] bool may_move(DeliveryState from, DeliveryState to);

enum class Classification : std::uint8_t { permanent, recoverable };

[[nodiscard]] std::string_view to_string(Classification classification);
[[nodiscard]] std::optional<Classification> parse_classification(std::string_view text);

/// Why a delivery was given up. `reason` is e.g. `max_attempts_exceeded`,
/// `permanent_client_error_404`, `ssl_error_retry_limit`.
struct DeadReason {
  Classification classification = Classification::recoverable;
  std::string reason;

  bool operator==(const DeadReason&) const = default;
};

/// What the engine needs to know of a delivery that waits. Small: a lane keeps many.
struct Delivery {
  DeliveryId id;
  EventId event_id;
  WebhookId webhook_id;
  std::int64_t sequence = 0;  // Given by the store at commit: publish order (P4).
  std::string event_type;     // Lanes with per_event_type order go by it.
  Priority priority = Priority::normal;
  DeliveryState state = DeliveryState::pending;
  Trigger trigger = Trigger::scheduled;
  WallTime due;
  std::uint32_t attempt_count = 0;  // Over its whole life.
  std::uint32_t budget_used = 0;    // Since it was published or last revived.
  std::uint32_t revivals = 0;       // How often it was revived: which life an attempt belongs to.

  bool operator==(const Delivery&) const = default;
};

}  // namespace postrider
