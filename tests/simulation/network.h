// What a receiver does with one request: how long it takes, whether it took the event, what we
// hear.
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

[[nodiscard]] Reply reply_of(Manners manners, Millis timeout, SplitMix64& random);

}  // namespace postrider::sim
