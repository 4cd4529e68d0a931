// The Catalog over the writer's connection.
#pragma once

#include <memory>

#include "ports/catalog.h"
#include "ports/vault.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

/// `vault` null: secrets are stored as they are.
[[nodiscard]] std::unique_ptr<Catalog> make_catalog(std::shared_ptr<Writer> writer,
                                                    std::shared_ptr<const Vault> vault);

}  // namespace postrider::sqlite
