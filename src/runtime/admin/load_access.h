// Who may call when the server starts: what the registry holds, with the operator's key and without
// what expired meanwhile. Before there are threads.
#pragma once

#include <optional>

#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/store.h"

#include "runtime/admin/access_snapshot.h"

namespace postrider {

/// `key`, when given, is stored; it takes the place of the one with its id. Fails as the store
/// does.
[[nodiscard]] Result<AccessSnapshot> load_access(Store& store, const std::optional<ApiKey>& key,
                                                 WallTime now);

}  // namespace postrider
