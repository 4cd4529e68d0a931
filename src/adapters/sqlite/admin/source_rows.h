// The SourceRowWriter role on the writer's connection and the SourceRowReader role on a reader's.
#pragma once

#include <memory>

#include "ports/source_rows.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<SourceRowWriter> make_source_row_writer(
    std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<SourceRowReader> make_source_row_reader(
    std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
