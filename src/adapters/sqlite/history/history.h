// The History over a reader's connection.
#pragma once

#include <memory>

#include "ports/history.h"
#include "ports/vault.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

/// `vault` opens what was sealed of requests; it may be null.
[[nodiscard]] std::unique_ptr<History> make_history(std::shared_ptr<Database> database,
                                                    std::shared_ptr<const Vault> vault);

}  // namespace postrider::sqlite
