// The roles that keep and list operations.
#pragma once

#include <memory>

#include "ports/operations.h"

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<OperationBook> make_operation_book(std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<OperationList> make_operation_list(
    std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
