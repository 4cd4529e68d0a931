// The Ledger role on the writer's connection. Store thread only.
#pragma once

#include <memory>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

[[nodiscard]] Result<std::unique_ptr<Ledger>> open_ledger(std::shared_ptr<Writer> writer);

}  // namespace postrider::sqlite
