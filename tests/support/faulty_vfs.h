// A SQLite file layer (VFS) that injects disk failures and simulates power cuts.
//
// Wraps the default VFS. Counts every write and sync and can make each of them fail. Tracks synced
// and unsynced writes separately, so that a test can construct the files that a power cut would
// leave.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace postrider::test {

/// Decides for each unsynced write whether it survives a power cut.
using Survives = std::function<bool()>;

class FaultyVfs {
 public:
  /// Registers itself under `name`, for SqliteOptions::vfs.
  explicit FaultyVfs(std::string name);
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  enum class Kind : std::uint8_t {
    disk_full,  ///< A write stores half of its bytes and fails, and so do all later ones until
                ///< heal().
    io_error,   ///< One write or sync fails.
  };
  /// Makes the n-th write or sync from now on fail, counted from 0.
  void fail_nth(std::uint64_t nth, Kind kind);
  /// Makes the n-th read from now on, counted from 0, and all later ones fail until heal().
  void fail_reads_from(std::uint64_t nth);
  void heal();
  [[nodiscard]] bool fault_fired() const { return fired_; }

  /// Called after every successful sync.
  void on_sync(std::function<void()> callback) { on_sync_ = std::move(callback); }

  /// Writes the files as a power cut at this moment would leave them into `directory`.
  void write_crash_image(const std::filesystem::path& directory, const Survives& survives) const;

  // ------------------------------------------------------------ for the file methods

  struct Write {
    std::uint64_t offset = 0;
    std::string bytes;
    std::optional<std::uint64_t> truncate_to;  // Instead of bytes.
  };
  struct File {
    std::string durable;
    std::vector<Write> unsynced;
  };

  /// The SQLite error code of this call, if it must fail.
  [[nodiscard]] std::optional<int> next_fault(bool is_sync);
  [[nodiscard]] bool next_read_fails();
  void note_write(const std::string& path, Write write);
  void note_sync(const std::string& path);
  void note_delete(const std::string& path) { files_.erase(path); }

 private:
  struct Registration;

  std::string name_;
  std::unique_ptr<Registration> registration_;
  std::map<std::string, File> files_;
  std::function<void()> on_sync_;
  std::optional<std::uint64_t> countdown_;
  std::optional<std::uint64_t> reads_left_;
  Kind kind_ = Kind::io_error;
  bool fired_ = false;
};

}  // namespace postrider::test
