// The History over a reader's connection.
#pragma once

#include <memory>

#include "ports/history.h"

#include "adapters/sqlite/database.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<History> make_history(std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
