// The Removal over the writer's connection.
#pragma once

#include <memory>

#include "ports/retention.h"

#include "adapters/sqlite/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<Removal> make_removal(std::shared_ptr<Writer> writer);

}  // namespace postrider::sqlite
