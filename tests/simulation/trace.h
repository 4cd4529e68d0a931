// Commands as text, for the trace hash and for reading a replayed run.
#pragma once

#include <string>

#include "engine/shard/messages.h"

namespace postrider::sim {

[[nodiscard]] std::string describe(const Command& command);

}  // namespace postrider::sim
