// The Attic over a reader's connection.
#pragma once

#include <memory>

#include "ports/retention.h"

#include "adapters/sqlite/database.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<Attic> make_attic(std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
