// The OperationWriter role on the writer's connection and the OperationReader role on a reader's.
#pragma once

#include <memory>

#include "ports/operations.h"

#include "adapters/sql/database.h"
#include "adapters/sql/writer.h"

namespace postrider::sql {

[[nodiscard]] std::unique_ptr<OperationWriter> make_operation_writer(
    std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<OperationReader> make_operation_reader(
    std::shared_ptr<Database> database);

}  // namespace postrider::sql
