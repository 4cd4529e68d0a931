// The SourceRowWriter role on the writer's connection. Store thread only.
#pragma once

#include <memory>

#include "ports/source_rows.h"

#include "adapters/postgres/store/database/writer.h"

namespace postrider::postgres {

[[nodiscard]] std::unique_ptr<SourceRowWriter> make_source_row_writer(
    std::shared_ptr<Writer> writer);

}  // namespace postrider::postgres
