// What becomes of a delivery when an attempt ends: the record of the attempt and the delivery's
// next state, ready for the store. Pure.
#pragma once

#include "core/model/attempt.h"
#include "core/policy/retry.h"
#include "engine/shard/entry.h"
#include "engine/shard/shard.h"

namespace postrider {

struct ConclusionContext {
  AttemptId attempt_id;
  WallTime now;       // Steady wall time.
  double draw = 0.0;  // Uniform in [0, 1).
};

struct Conclusion {
  Settlement settlement;
  bool disable_webhook = false;  // The receiver said it is gone.
};

/// A test is tried once: when it fails it is over, and nobody mourns it as a dead letter. A
/// delivery that was cancelled meanwhile is not tried again. One that was revived meanwhile and
/// failed goes back in line at once with a fresh budget, whatever the policy says; one that
/// succeeded has what the person wanted.
[[nodiscard]] Conclusion conclude(const Entry& entry, Outcome outcome, const RetryPolicy& policy,
                                  const ConclusionContext& context);

/// Changes a settlement that the store has not got so that it does not undo the revival. A success
/// stays one.
void revive(Settlement& settlement, const Revival& revival);

}  // namespace postrider
