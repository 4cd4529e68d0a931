// The OperationWriter role on the writer's connection and the OperationReader role on a reader's.
#pragma once

#include <memory>

#include "ports/operations.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<OperationWriter> make_operation_writer(
    std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<OperationReader> make_operation_reader(
    std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
