// SQLite's file layer with a disk that fails and loses power on command.
//
// Wraps the system's. Every write and sync is counted and can be made to fail. What was synced is
// remembered apart from what was only written, so that a test can see what a power cut would leave.
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

/// What happens to writes that were not followed by a sync when the power goes. Called once for
/// each.
using Survives = std::function<bool()>;

class FaultyVfs {
 public:
  /// Registers itself under `name`, which SqliteOptions::vfs takes.
  explicit FaultyVfs(std::string name);
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  enum class Kind : std::uint8_t {
    disk_full,  ///< A write gets half of its bytes down and fails; so do all after it, until
                ///< healed.
    io_error,   ///< One write or sync fails; the next works again.
  };
  /// The n-th write or sync from now on fails, counted from 0.
  void fail_nth(std::uint64_t nth, Kind kind);
  /// The disk refuses the n-th read from now on, counted from 0, and all after it, until healed.
  void refuse_reads_from(std::uint64_t nth);
  void heal();
  [[nodiscard]] bool fault_fired() const { return fired_; }

  /// Called after every successful sync.
  void on_sync(std::function<void()> callback) { on_sync_ = std::move(callback); }

  /// Writes the files as a power cut at this moment would leave them.
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

  /// The SQLite code to fail with, if this call is to fail.
  [[nodiscard]] std::optional<int> draw_fault(bool is_sync);
  [[nodiscard]] bool refuses_read();
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
