// The History port on PostgreSQL. Reader thread.
#pragma once

#include <memory>

#include "ports/history.h"

#include "adapters/postgres/store/database/reader.h"

namespace postrider::postgres {

[[nodiscard]] std::unique_ptr<History> make_history(std::shared_ptr<ReadConnection> connection);

}  // namespace postrider::postgres
