// Writes files atomically and durably: after a power failure a file is complete or absent.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/result.h"

namespace postrider::zstd {

/// Replaces `file`: writes a temporary file, syncs it, renames it, and syncs the directory. Fails
/// with unavailable. If it fails before the rename, the old file is unchanged.
[[nodiscard]] Result<void> write_durably(const std::filesystem::path& file, std::string_view bytes);

/// Fails with unavailable.
[[nodiscard]] Result<std::string> read_whole(const std::filesystem::path& file);

}  // namespace postrider::zstd
