// The Catalog over the writer's connection.
#pragma once

#include <memory>

#include "ports/catalog.h"

#include "adapters/sqlite/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<Catalog> make_catalog(std::shared_ptr<Writer> writer);

}  // namespace postrider::sqlite
