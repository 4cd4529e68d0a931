// Selects the deliveries of one page of a lane. Pure.
#pragma once

#include <vector>

#include "core/model/delivery.h"
#include "ports/ledger.h"

namespace postrider {

/// `waiting` has all waiting deliveries of the lane, ordered by sequence.
[[nodiscard]] LanePage make_lane_page(const std::vector<Delivery>& waiting, const LoadLane& query);

}  // namespace postrider
