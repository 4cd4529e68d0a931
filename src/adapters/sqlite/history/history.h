// The History role on a reader's connection.
#pragma once

#include <memory>

#include "ports/history.h"
#include "ports/vault.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

/// `vault` decrypts recorded requests. Null: encrypted requests are left out.
[[nodiscard]] std::unique_ptr<History> make_history(std::shared_ptr<Database> database,
                                                    std::shared_ptr<const Vault> vault);

}  // namespace postrider::sqlite
