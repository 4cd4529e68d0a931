// Loads keys, sessions, tenants and links at start, before there are threads. Removes those that
// have expired and adds the operator's key.
#pragma once

#include <optional>

#include "core/base/result.h"
#include "core/base/time.h"
#include "engine/admin/access_snapshot.h"
#include "ports/store.h"

namespace postrider {

/// What a start adds. The key replaces the key with its id.
struct StartAccess {
  std::optional<ApiKey> key = std::nullopt;
  std::optional<SignInLink> link = std::nullopt;
};

/// Stores what `added` contains. Fails as the store does.
[[nodiscard]] Result<AccessSnapshot> load_access(Store& store, const StartAccess& added,
                                                 WallTime now);

}  // namespace postrider
