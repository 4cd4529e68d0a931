// The Catalog role on the writer's connection. Store thread only.
#pragma once

#include <memory>

#include "ports/catalog.h"
#include "ports/vault.h"

#include "adapters/sql/admin/webhook_deliveries.h"
#include "adapters/sql/writer.h"

namespace postrider::sql {

struct CatalogParts {
  std::shared_ptr<Writer> writer;
  std::unique_ptr<WebhookDeliveries> deliveries;
  std::shared_ptr<const Vault> vault;  // Encrypts secrets. Null: they are stored in plain text.
};

[[nodiscard]] std::unique_ptr<Catalog> make_catalog(CatalogParts parts);

}  // namespace postrider::sql
