// Who may call when the server starts: what the registry holds, with the operator's key and without
// what expired meanwhile. Before there are threads.
#pragma once

#include <optional>

#include "core/result.h"
#include "core/time.h"
#include "ports/store.h"

#include "runtime/roster.h"

namespace postrider {

/// `key`, when given, is stored; it takes the place of the one with its id. Fails as the store
/// does.
[[nodiscard]] Result<Roster> load_roster(Store& store, const std::optional<ApiKey>& key,
                                         WallTime now);

}  // namespace postrider
