// Removes expired events and deliveries, old statistics, and unused partitions. Store thread only.
#pragma once

#include <memory>

#include "ports/retention.h"

#include "adapters/postgres/store/database/writer.h"

namespace postrider::postgres {

[[nodiscard]] std::unique_ptr<RetentionWriter> make_retention_writer(
    std::shared_ptr<Writer> writer);

}  // namespace postrider::postgres
