#include "core/policy/blocked_times.h"

#include <algorithm>

namespace postrider {
namespace {

/// A time in which a delivery was due and not sent.
struct Wait {
  WallTime due;
  std::optional<WallTime> ended;  // nullopt: not yet.
};

std::vector<Wait> waits_of(const DeliveryRecord& record, const std::vector<Attempt>& attempts,
                           WallTime now) {
  std::vector<Wait> waits;
  waits.reserve(attempts.size() + 1);
  // The first due time is steady time, which may differ from the wall clock.
  const auto since = [&](WallTime due) { return std::max(due, record.created_at); };
  for (const Attempt& attempt : attempts) {
    waits.push_back({since(attempt.scheduled_at), attempt.outcome.executed_at});
  }
  // After its last attempt, or without any.
  const Delivery& delivery = record.delivery;
  const bool unsent = is_waiting(delivery.state) || delivery.state == DeliveryState::cancelled;
  if (unsent && delivery.due <= now) {
    waits.push_back({since(delivery.due), record.completed_at});
  }
  return waits;
}

std::optional<BlockedTime> overlap(const Wait& wait, const OpenPeriod& period) {
  BlockedTime blocked{.from = std::max(wait.due, period.opened_at),
                      .until = period.ended_at,
                      .reason = period.reason};
  if (wait.ended) {
    blocked.until = std::min(blocked.until.value_or(*wait.ended), *wait.ended);
  }
  const bool none = blocked.until && *blocked.until <= blocked.from;
  return none ? std::nullopt : std::optional{blocked};
}

}  // namespace

std::vector<BlockedTime> blocked_times(const DeliveryRecord& record,
                                       const std::vector<Attempt>& attempts,
                                       const std::vector<OpenPeriod>& periods, WallTime now) {
  const std::vector<Wait> waits = waits_of(record, attempts, now);
  std::vector<BlockedTime> times;
  for (const OpenPeriod& period : periods) {
    for (const Wait& wait : waits) {
      if (const std::optional<BlockedTime> blocked = overlap(wait, period)) {
        times.push_back(*blocked);
        break;
      }
    }
  }
  return times;
}

}  // namespace postrider
