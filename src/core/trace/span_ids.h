// The ids of the spans of an event. Computed from the ids of what they describe, so that they need
// not be stored: the request of an attempt is reconstructed with the same `traceparent`. Pure.
#pragma once

#include <cstdint>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/event.h"
#include "core/model/trace.h"

namespace postrider {

[[nodiscard]] SpanId publish_span_id(EventId id);
[[nodiscard]] SpanId commit_span_id(EventId id);

/// Different for every attempt. The time tells an attempt from the one with the same number that a
/// crash has cut off.
[[nodiscard]] SpanId attempt_span_id(DeliveryId id, std::uint32_t number, WallTime executed_at);

/// The span of a delivery that is given up without an attempt.
[[nodiscard]] SpanId given_up_span_id(DeliveryId id, std::uint32_t attempts);

/// A part of another span. `index` tells the parts apart.
[[nodiscard]] SpanId part_span_id(const SpanId& whole, std::uint32_t index);

}  // namespace postrider
