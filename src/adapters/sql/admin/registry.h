// The Registry role on the writer's connection. Store thread only.
#pragma once

#include <memory>

#include "ports/registry.h"

#include "adapters/sql/writer.h"

namespace postrider::sql {

[[nodiscard]] std::unique_ptr<Registry> make_registry(std::shared_ptr<Writer> writer);

}  // namespace postrider::sql
