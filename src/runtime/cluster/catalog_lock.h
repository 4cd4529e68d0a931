// Serializes the changes that servers make to the catalogue when they start, because several may
// start at the same time. Before the store thread starts.
#pragma once

#include <functional>

#include "core/base/result.h"
#include "ports/store.h"

namespace postrider {

/// Runs `body`, as one transaction during which no other server changes the catalogue if the store
/// can be shared.
[[nodiscard]] inline Result<void> with_catalog_locked(Store& store,
                                                      const std::function<Result<void>()>& body) {
  if (!store.peers) {
    return body();
  }
  return store.atomically([&]() -> Result<void> {
    POSTRIDER_TRY([[maybe_unused]] const CatalogVersion version, store.peers->lock_catalog());
    return body();
  });
}

}  // namespace postrider
