// Is a retention archive whole? Every file that its manifest lists is there, is the one that was
// written, and holds as many JSON lines as it should.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace postrider::cli {

struct ArchivedFile {
  std::string name;
  std::string sha256;  // Hex, of the compressed bytes.
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
};

/// Reads `manifest.json`. Fails with invalid: missing, not a manifest, or of a newer format.
[[nodiscard]] Result<std::vector<ArchivedFile>> read_manifest(
    const std::filesystem::path& directory);

/// Fails with a sentence that names the file and what is wrong with it.
[[nodiscard]] Result<void> check_file(const std::filesystem::path& directory,
                                      const ArchivedFile& file);

/// Archive files in the directory that the manifest does not know, in order of their names.
[[nodiscard]] std::vector<std::string> unlisted_files(const std::filesystem::path& directory,
                                                      const std::vector<ArchivedFile>& files);

}  // namespace postrider::cli
