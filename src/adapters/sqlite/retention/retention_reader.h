// The RetentionReader role on a reader's connection.
#pragma once

#include <memory>

#include "ports/retention.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<RetentionReader> make_retention_reader(
    std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
