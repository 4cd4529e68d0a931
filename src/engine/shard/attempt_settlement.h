// Decides what becomes of a delivery when an attempt ends: the record of the attempt and the next
// state of the delivery. Pure.
#pragma once

#include "core/model/attempt.h"
#include "core/policy/retry.h"
#include "engine/shard/entry.h"
#include "engine/shard/messages.h"

namespace postrider {

struct SettlementContext {
  AttemptId attempt_id;
  WallTime now;       // Steady wall time.
  double draw = 0.0;  // Uniform in [0, 1).
};

struct AttemptSettlement {
  Settlement settlement;
  bool disable_webhook = false;  // The receiver answered 410 Gone.
};

/// A test send is attempted once; a failed one is cancelled, not dead-lettered. A delivery that was
/// cancelled meanwhile is not attempted again. A delivery that was revived meanwhile and failed
/// becomes due at once with a new budget, whatever the policy says; if it succeeded, the revival is
/// done.
[[nodiscard]] AttemptSettlement settle_attempt(const Entry& entry, Outcome outcome,
                                               const RetryPolicy& policy,
                                               const SettlementContext& context);

/// Applies the revival to a settlement that is not stored yet, so that storing it does not undo the
/// revival. A success is not changed.
void revive(Settlement& settlement, const Revival& revival);

}  // namespace postrider
