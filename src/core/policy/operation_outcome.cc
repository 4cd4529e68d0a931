#include "core/policy/operation_outcome.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace postrider {

void OutcomeChange::add(DeliveryState final_state, WallTime now) {
  POSTRIDER_ASSERT(!is_waiting(final_state));
  succeeded += final_state == DeliveryState::succeeded ? 1 : 0;
  dead_again += final_state == DeliveryState::dead_letter ? 1 : 0;
  cancelled += final_state == DeliveryState::cancelled ? 1 : 0;
  at = std::max(at, now);
}

Operation add_outcomes(Operation operation, const OutcomeChange& change) {
  OperationOutcomes& outcomes = operation.outcomes;
  outcomes.succeeded += change.succeeded;
  outcomes.dead_again += change.dead_again;
  outcomes.cancelled += change.cancelled;
  // Those that an earlier run counted as cancelled are not part of this one.
  const std::uint64_t revised = std::min(change.revised, outcomes.cancelled);
  outcomes.succeeded += revised;
  outcomes.cancelled -= revised;
  return end_if_settled(std::move(operation), change.at);
}

Operation end_if_settled(Operation operation, WallTime now) {
  if (!operation.requeue_finished_at || operation.finished_at ||
      operation.outcomes.waiting() != 0) {
    return operation;
  }
  operation.finished_at = std::max(now, *operation.requeue_finished_at);
  if (operation.status == OperationStatus::running) {
    operation.status = OperationStatus::completed;
  }
  return operation;
}

}  // namespace postrider
