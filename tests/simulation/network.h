// How a receiver answers one request: after which time, with which outcome, and whether it accepted
// the event.
#pragma once

#include "core/base/random.h"
#include "core/model/attempt.h"

#include "tests/simulation/scenario.h"

namespace postrider::sim {

struct Reply {
  Outcome outcome;
  Micros delay{0};        // Until the outcome is known.
  bool accepted = false;  // The receiver has the event.
};

/// Nothing is sent: the server lacks a resource.
[[nodiscard]] Outcome not_sent(SplitMix64& random);

[[nodiscard]] Reply reply_of(Behavior behavior, Millis timeout, SplitMix64& random);

}  // namespace postrider::sim
