// The RetentionWriter role on the writer's connection. Store thread only.
#pragma once

#include <memory>

#include "ports/retention.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<RetentionWriter> make_retention_writer(
    std::shared_ptr<Writer> writer);

}  // namespace postrider::sqlite
