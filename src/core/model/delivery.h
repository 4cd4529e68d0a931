// The delivery of one event to one webhook, as a state machine.
//
//     pending -> in_flight -> succeeded
//                in_flight -> retrying -> in_flight
//                in_flight -> dead_letter        (also: retried by hand: dead_letter -> pending)
//     pending | retrying -> cancelled         (also: discarded by hand: dead_letter -> cancelled)
//
// `in_flight` and `blocked` are never stored: they describe what the engine currently does with a
// pending or retrying delivery. After a crash the delivery is pending or retrying again (P2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/model/event.h"
#include "core/model/trace.h"

namespace postrider {

enum class DeliveryState : std::uint8_t { pending, retrying, succeeded, dead_letter, cancelled };

[[nodiscard]] std::string_view to_string(DeliveryState state);
[[nodiscard]] std::optional<DeliveryState> parse_delivery_state(std::string_view text);

/// Waiting to be attempted. All other states are final until a person revives the delivery.
[[nodiscard]] constexpr bool is_waiting(DeliveryState state) {
  return state == DeliveryState::pending || state == DeliveryState::retrying;
}

/// True if a delivery may move from `from` to `to`. The only definition of the legal transitions.
/// `retrying` to `retrying` is legal: another attempt failed.
[[nodiscard]] bool can_transition(DeliveryState from, DeliveryState to);

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

/// A waiting delivery as the engine sees it. Kept small because a lane holds many.
struct Delivery {
  DeliveryId id;
  EventId event_id;
  WebhookId webhook_id;
  std::int64_t sequence = 0;  // Assigned by the store at commit. Publish order (P4).
  std::string event_type;     // Used by lanes with per_event_type ordering.
  Priority priority = Priority::normal;
  DeliveryState state = DeliveryState::pending;
  Trigger trigger = Trigger::scheduled;
  WallTime due;
  std::uint32_t attempt_count = 0;  // In total, including before a revival.
  std::uint32_t budget_used = 0;    // Since it was published or last revived.
  std::uint32_t revivals = 0;       // Tells the attempts before a revival from those after it.
  bool in_operation = false;        // An operation counts the outcome of its current life.
  std::optional<TraceMark> trace = std::nullopt;  // Of the event, if that has a trace context.

  bool operator==(const Delivery&) const = default;
};

/// The trace id of the delivery's event.
[[nodiscard]] inline TraceId trace_id_of(const Delivery& delivery) {
  return delivery.trace ? delivery.trace->id : own_trace_id(delivery.event_id);
}

}  // namespace postrider
