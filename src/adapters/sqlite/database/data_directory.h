// The data directory of a store: creating it, locking it, and making its files private and durable.
#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace postrider::sqlite {

[[nodiscard]] inline std::filesystem::path database_file(const std::filesystem::path& directory) {
  return directory / "postrider.db";
}

/// Locks the directory for this process until destroyed.
class DirectoryLock {
 public:
  /// Creates a missing directory, accessible by its owner only. Fails with conflict if another
  /// process holds the lock, invalid if the directory cannot be used.
  [[nodiscard]] static Result<DirectoryLock> acquire(const std::filesystem::path& directory);

  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// Makes new and renamed entries of the directory durable. The entry of a new file must be on disk
/// before its contents count as durable.
[[nodiscard]] Result<void> sync_directory(const std::filesystem::path& directory);

/// Creates an empty file unless it exists. Only its owner may read it, because it contains all
/// webhook secrets. SQLite gives its log the same permissions.
[[nodiscard]] Result<void> create_private_file(const std::filesystem::path& file);

/// Overwrites the file with its own bytes and syncs it. After a failed fsync the kernel may mark
/// pages as clean that never reached the disk, and the next fsync would succeed without writing
/// them. Rewriting makes every page dirty again. A missing file is ignored.
[[nodiscard]] Result<void> rewrite_durably(const std::filesystem::path& file);

}  // namespace postrider::sqlite
