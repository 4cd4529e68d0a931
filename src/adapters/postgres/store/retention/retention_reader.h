// Finds expired events and deliveries. Reader thread.
#pragma once

#include <memory>

#include "ports/retention.h"

#include "adapters/postgres/store/database/reader.h"

namespace postrider::postgres {

[[nodiscard]] std::unique_ptr<RetentionReader> make_retention_reader(
    std::shared_ptr<ReadConnection> connection);

}  // namespace postrider::postgres
