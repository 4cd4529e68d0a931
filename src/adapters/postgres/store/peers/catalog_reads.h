// Reads which changes of the catalogue were committed. Triggers write them: see
// migrations/0003_peers.sql. Store thread only.
#pragma once

#include "core/base/result.h"
#include "core/model/catalog_version.h"
#include "ports/peers.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

// These numbers are stored in the database and must never change.
static_assert(static_cast<int>(CatalogPart::webhooks) == 0 &&
              static_cast<int>(CatalogPart::access) == 1 &&
              static_cast<int>(CatalogPart::event_types) == 2 &&
              static_cast<int>(CatalogPart::channels) == 3 &&
              static_cast<int>(CatalogPart::operations) == 4);

/// See Peers. They fail with corrupt if the row of the version is missing.
[[nodiscard]] Result<CatalogVersion> read_catalog_version(Session& session);
[[nodiscard]] Result<CatalogChanges> read_catalog_changes(Session& session, CatalogVersion seen);
[[nodiscard]] Result<CatalogVersion> lock_catalog(Session& session);

/// Removes the changes that are older than a few hours. Call within a transaction.
[[nodiscard]] Result<void> remove_old_catalog_changes(Session& session);

}  // namespace postrider::postgres
