// The Stats role on a reader's connection.
#pragma once

#include <memory>

#include "ports/stats.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<Stats> make_stats(std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
