// The Stats port on PostgreSQL: adds up the sums that each node keeps. Reader thread.
#pragma once

#include <memory>

#include "ports/stats.h"

#include "adapters/postgres/store/database/reader.h"

namespace postrider::postgres {

[[nodiscard]] std::unique_ptr<Stats> make_stats(std::shared_ptr<ReadConnection> connection);

}  // namespace postrider::postgres
