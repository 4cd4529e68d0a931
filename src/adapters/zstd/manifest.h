// The archive's manifest, its table of contents. The format is described in ports/archive.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

namespace postrider::zstd {

struct ManifestEntry {
  std::string name;
  std::string sha256;  // Hex.
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  WallTime first_at;
  WallTime last_at;
};

/// The entries as JSON text, verbatim, so that nothing is lost when an entry is added. A missing
/// manifest has no entries. Fails with corrupt if the file is not a valid manifest; the caller must
/// not overwrite it then.
[[nodiscard]] Result<std::vector<std::string>> read_manifest(const std::filesystem::path& file);

[[nodiscard]] std::string to_json(const ManifestEntry& entry);

/// Replaces the manifest as a whole.
[[nodiscard]] Result<void> write_manifest(const std::filesystem::path& file,
                                          const std::vector<std::string>& entries);

}  // namespace postrider::zstd
