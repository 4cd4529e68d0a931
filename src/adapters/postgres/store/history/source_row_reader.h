// The SourceRowReader port on PostgreSQL. Reader thread.
#pragma once

#include <memory>
#include <string_view>

#include "ports/source_rows.h"

#include "adapters/postgres/store/database/reader.h"

namespace postrider::postgres {

[[nodiscard]] std::unique_ptr<SourceRowReader> make_source_row_reader(
    std::shared_ptr<ReadConnection> connection);

/// The SQL of these reads, so that a test can check the query plans.
struct SourceRowQueries {
  std::string_view rows_of;     // $1: event ids, $2: source.
  std::string_view unsettled;   // $1: source, $2 and $3: the cursor, $4: the limit.
  std::string_view deliveries;  // $1: event ids.
};
[[nodiscard]] SourceRowQueries source_row_queries();

}  // namespace postrider::postgres
