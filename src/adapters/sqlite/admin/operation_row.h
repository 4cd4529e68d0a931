// Reads and writes rows of the table `operation`.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/policy/operation_outcome.h"
#include "ports/operations.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

[[nodiscard]] Result<void> write_operation(Database& database, const Operation& operation);

/// Operations that are no longer stored are left out. Call within a transaction.
[[nodiscard]] Result<void> add_to_operations(Database& database, const OutcomeChanges& outcomes);

/// Fails with not_found.
[[nodiscard]] Result<Operation> read_operation(Database& database, OperationId id);
/// In id order.
[[nodiscard]] Result<std::vector<Operation>> read_unfinished_operations(Database& database);
/// Newest first, one more than the page's limit if there are more.
[[nodiscard]] Result<std::vector<Operation>> read_operations(Database& database,
                                                             const OperationFilter& filter,
                                                             const OperationPage& page);

}  // namespace postrider::sqlite
