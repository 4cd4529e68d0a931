// Reads and writes rows of the table `operation`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/policy/operation_outcome.h"
#include "ports/operations.h"

#include "adapters/sql/database.h"

namespace postrider::sql {

[[nodiscard]] Result<void> write_operation(Database& database, const Operation& operation);

/// Operations that are no longer stored are left out. Call within a transaction.
[[nodiscard]] Result<void> add_to_operations(Database& database, const OutcomeChanges& outcomes);

/// Fails with not_found.
[[nodiscard]] Result<Operation> read_operation(Database& database, OperationId id);
/// Like read_operation, and locks the row until the end of the transaction.
[[nodiscard]] Result<Operation> lock_operation(Database& database, OperationId id);
/// In id order.
[[nodiscard]] Result<std::vector<Operation>> read_unfinished_operations(Database& database);
/// Newest first, one more than the page's limit if there are more.
[[nodiscard]] Result<std::vector<Operation>> read_operations(Database& database,
                                                             const OperationFilter& filter,
                                                             const OperationPage& page);
/// See OperationWriter::remove_finished.
[[nodiscard]] Result<std::uint32_t> remove_finished_operations(Database& database, WallTime before,
                                                               std::uint32_t limit);

/// The SQL of two of these, so that a test can check the query plans.
[[nodiscard]] std::vector<std::string_view> operation_queries();

}  // namespace postrider::sql
