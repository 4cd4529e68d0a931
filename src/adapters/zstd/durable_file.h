// Files that are there whole or not at all, also after a power cut.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/result.h"

namespace postrider::zstd {

/// Writes beside it, syncs, renames, and syncs the directory. Replaces what was there. Fails with
/// unavailable; what was there before is then still there.
[[nodiscard]] Result<void> write_durably(const std::filesystem::path& file, std::string_view bytes);

/// Fails with unavailable.
[[nodiscard]] Result<std::string> read_whole(const std::filesystem::path& file);

}  // namespace postrider::zstd
