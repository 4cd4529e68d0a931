// The archive of what retention removes: files of JSON lines with a manifest.
//
// `manifest.json` in the archive's folder is
//     {"format": 1, "files": [{"name", "sha256", "bytes", "lines", "first_at", "last_at"}]}
// with the SHA-256 (hex) and size of the compressed file and the creation times of its oldest and
// newest event. Files that the manifest does not name are not part of the archive.
#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"

namespace postrider {

/// Used by one thread. Every call fails with unavailable if the folder cannot be written. Lines
/// appended since the last seal are then discarded, and the next append starts a new file.
class Archive {
 public:
  virtual ~Archive() = default;

  /// Appends a line to the current file; `at` is the time of its event. Not durable before `seal`.
  /// Returns true if the file is large enough to be sealed.
  [[nodiscard]] virtual Result<bool> append(std::string_view line, WallTime at) = 0;

  /// Finishes the current file and adds it to the manifest. Durable when it returns. Has no effect
  /// if nothing was appended.
  [[nodiscard]] virtual Result<void> seal() = 0;

 protected:
  Archive() = default;
  Archive(const Archive&) = default;
  Archive& operator=(const Archive&) = default;
};

}  // namespace postrider
