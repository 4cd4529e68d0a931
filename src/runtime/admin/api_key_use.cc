#include "runtime/admin/api_key_use.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace postrider {
namespace {

constexpr std::int64_t use_step_ms = 1'000;  // Users need no finer resolution.

std::int64_t load(std::int64_t& value) {
  return std::atomic_ref{value}.load(std::memory_order_relaxed);
}

void store(std::int64_t& value, std::int64_t to) {
  std::atomic_ref{value}.store(to, std::memory_order_relaxed);
}

bool has_unwritten_use(const AccessKey& key) {
  return load(key.use().used_at_ms) > load(key.use().written_at_ms);
}

}  // namespace

void note_use(const AccessKey& key, WallTime now) {
  const std::int64_t now_ms = to_unix_ms(now);
  if (now_ms - load(key.use().used_at_ms) >= use_step_ms) {
    store(key.use().used_at_ms, now_ms);
  }
}

std::optional<WallTime> last_used_at(const AccessKey& key) {
  const std::int64_t used_at_ms = load(key.use().used_at_ms);
  if (used_at_ms == 0) {
    return key.key().last_used_at;
  }
  return std::max(key.key().last_used_at.value_or(WallTime{}), wall_from_unix_ms(used_at_ms));
}

NoteKeyUses unwritten_uses(const AccessSnapshot& access) {
  NoteKeyUses note;
  for (const auto& [id, key] : access.keys()) {
    const std::optional<WallTime> used_at = last_used_at(*key);
    if (used_at && has_unwritten_use(*key)) {
      note.uses.emplace_back(id, *used_at);
    }
  }
  return note;
}

void mark_written(const AccessKey& key, WallTime at) {
  store(key.use().written_at_ms, to_unix_ms(at));
}

}  // namespace postrider
