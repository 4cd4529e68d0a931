// Verifies a retention archive: every file in the manifest exists, has the recorded SHA-256 and
// contains the recorded number of JSON lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

#include "cli/ports.h"

namespace postrider::cli {

struct ArchivedFile {
  std::string name;
  std::string sha256;  // Hex, of the compressed bytes.
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
};

/// Reads `manifest.json`. Fails with invalid if it is missing, not a manifest or of another format.
[[nodiscard]] Result<std::vector<ArchivedFile>> read_manifest(
    const std::filesystem::path& directory);

/// Fails with a message that names the file and the problem.
[[nodiscard]] Result<void> check_file(const std::filesystem::path& directory,
                                      const ArchivedFile& file, const Ports& ports);

/// Returns the names of archive files that the manifest does not list, sorted.
[[nodiscard]] std::vector<std::string> unlisted_files(const std::filesystem::path& directory,
                                                      const std::vector<ArchivedFile>& files);

}  // namespace postrider::cli
