// Commands and inputs as text: for the trace hash and for whoever replays a seed.
#pragma once

#include <string>

#include "engine/shard/shard.h"

namespace postrider::sim {

[[nodiscard]] std::string describe(const Command& command);

}  // namespace postrider::sim
