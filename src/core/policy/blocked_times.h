// When an open circuit kept a delivery waiting although it was due. Pure.
#pragma once

#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/model/delivery_record.h"
#include "core/policy/breaker.h"

namespace postrider {

struct BlockedTime {
  WallTime from;
  std::optional<WallTime> until;  // nullopt: still blocked.
  OpenReason reason = OpenReason::failures;

  bool operator==(const BlockedTime&) const = default;
};

/// At most one entry per open period: the time in it during which the delivery was due. `periods`
/// are those of the webhook's circuit, oldest first.
[[nodiscard]] std::vector<BlockedTime> blocked_times(const DeliveryRecord& record,
                                                     const std::vector<Attempt>& attempts,
                                                     const std::vector<OpenPeriod>& periods,
                                                     WallTime now);

}  // namespace postrider
