// Connections to receivers, as readings for the metrics page.
#pragma once

#include <vector>

#include "ports/reading.h"
#include "ports/transport.h"

namespace postrider {

/// Of all transports together.
[[nodiscard]] std::vector<Reading> to_readings(const std::vector<TransportCounters>& transports);

}  // namespace postrider
