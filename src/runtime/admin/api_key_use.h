// Tracks when API keys were last used: at once in memory, written to the store periodically. Any
// thread.
#pragma once

#include <optional>

#include "core/base/time.h"
#include "core/model/access.h"
#include "engine/admin/access_snapshot.h"

namespace postrider {

/// Cheap: the use is recorded at most once a second.
void note_use(const AccessKey& key, WallTime now);

/// Returns nullopt if the key was never used.
[[nodiscard]] std::optional<WallTime> last_used_at(const AccessKey& key);

/// The latest uses that are not stored yet.
[[nodiscard]] NoteKeyUses unwritten_uses(const AccessSnapshot& access);

/// Call after the use at `at` was stored.
void mark_written(const AccessKey& key, WallTime at);

}  // namespace postrider
