// Where what retention removes is kept for good: lines of JSON in files with a manifest.
//
// `manifest.json` in the archive's folder is
//     {"format": 1, "files": [{"name", "sha256", "bytes", "lines", "first_at", "last_at"}]}
// with the SHA-256 (hex) and size of the compressed file and the creation times of its oldest and
// newest event. A file counts when the manifest names it.
#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"

namespace postrider {

/// Used by one thread. Every call fails with unavailable when the folder cannot be written; what
/// was appended since the last seal is then forgotten, and the next append starts anew.
class Archive {
 public:
  virtual ~Archive() = default;

  /// Adds a line to the file under way. `at` is its event's time. Nothing is durable yet. True: the
  /// file is large enough to be sealed.
  [[nodiscard]] virtual Result<bool> append(std::string_view line, WallTime at) = 0;

  /// Finishes the file under way and puts it into the manifest. All of it is durable when it
  /// returns. Nothing to do when nothing was appended.
  [[nodiscard]] virtual Result<void> seal() = 0;

 protected:
  Archive() = default;
  Archive(const Archive&) = default;
  Archive& operator=(const Archive&) = default;
};

}  // namespace postrider
