// Which of the deliveries that wait a page of their lane holds. Pure.
#pragma once

#include <vector>

#include "core/model/delivery.h"
#include "ports/ledger.h"

namespace postrider {

/// `waiting` is all of the lane, in order of sequence.
[[nodiscard]] LanePage page_of(const std::vector<Delivery>& waiting, const LoadLane& query);

}  // namespace postrider
