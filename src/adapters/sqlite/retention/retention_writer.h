// The RetentionWriter over the writer's connection.
#pragma once

#include <memory>

#include "ports/retention.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<RetentionWriter> make_retention_writer(
    std::shared_ptr<Writer> writer);

}  // namespace postrider::sqlite
