// The directory a store lives in: made, locked, and its log put on firm ground before it is opened.
#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace postrider::sqlite {

[[nodiscard]] inline std::filesystem::path database_file(const std::filesystem::path& directory) {
  return directory / "postrider.db";
}

/// Holds the directory for this process until destroyed.
class DirectoryLock {
 public:
  /// Makes the directory when it is missing, readable by its owner alone. Fails with conflict when
  /// another process holds it, invalid when it cannot be used.
  [[nodiscard]] static Result<DirectoryLock> take(const std::filesystem::path& directory);

  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// Creates the file, empty, unless it is there; whoever may read it sees every webhook's secret, so
/// only its owner may. SQLite gives its log the same permissions.
[[nodiscard]] Result<void> make_private(const std::filesystem::path& file);

/// Writes the file's own bytes over it and syncs it. After a failed fsync the kernel may count
/// pages as written that never reached the disk; a later fsync then succeeds about nothing. Making
/// every page dirty again makes the next fsync tell the truth. A missing file is fine.
[[nodiscard]] Result<void> rewrite_durably(const std::filesystem::path& file);

}  // namespace postrider::sqlite
