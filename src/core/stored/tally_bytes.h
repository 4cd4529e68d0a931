// The stored form of a DeliveryTally: the bytes of one column.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/delivery_tally.h"

namespace postrider::stored {

/// Appends to `out`.
void pack_tally(const DeliveryTally& tally, std::string& out);

/// Empty bytes are an empty tally. Fails with corrupt.
[[nodiscard]] Result<DeliveryTally> unpack_tally(std::string_view packed);

}  // namespace postrider::stored
