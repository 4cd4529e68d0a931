// The Catalog role on the writer's connection. Store thread only.
#pragma once

#include <memory>

#include "ports/catalog.h"
#include "ports/vault.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

/// `vault` encrypts secrets. Null: they are stored in plain text.
[[nodiscard]] std::unique_ptr<Catalog> make_catalog(std::shared_ptr<Writer> writer,
                                                    std::shared_ptr<const Vault> vault);

}  // namespace postrider::sqlite
