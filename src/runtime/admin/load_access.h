// Loads keys, tenants and portal links at start, before there are threads. Removes those that have
// expired and adds the operator's key.
#pragma once

#include <optional>

#include "core/base/result.h"
#include "core/base/time.h"
#include "engine/admin/access_snapshot.h"
#include "ports/store.h"

namespace postrider {

/// Stores `key`, if given; it replaces the key with its id. Fails as the store does.
[[nodiscard]] Result<AccessSnapshot> load_access(Store& store, const std::optional<ApiKey>& key,
                                                 WallTime now);

}  // namespace postrider
