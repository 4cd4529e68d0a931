// The marker of a data directory: a small file beside the database that says which database belongs
// here and how far it had come. It is compared with the database at start (tail_check.h).
//
// The marker is a lower bound. It is written after each commit, without a sync: what a process has
// written survives its death, and after a power cut the database may be ahead of the marker, never
// behind it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

#include "adapters/sqlite/database/descriptor.h"

namespace postrider::sqlite {

struct Marker {
  std::string identity;       // Of the database: 32 hexadecimal digits.
  std::int64_t position = 0;  // Transactions that are committed and durable.
  std::int64_t base = 0;      // How many of them the database file holds without its log.
  bool clean = false;         // The server ended in order.

  bool operator==(const Marker&) const = default;
};

[[nodiscard]] inline std::filesystem::path marker_file(const std::filesystem::path& directory) {
  return directory / "marker";
}

/// Always of the same length, so that a new marker replaces the old one in place.
[[nodiscard]] std::string to_text(const Marker& marker);
/// Nullopt if the text is not a complete marker.
[[nodiscard]] std::optional<Marker> parse_marker(std::string_view text);

/// Nullopt if there is no marker. Fails with corrupt if it is damaged.
[[nodiscard]] Result<std::optional<Marker>> read_marker(const std::filesystem::path& directory);

/// The marker of a directory in use. Store thread only.
class MarkerFile {
 public:
  /// Writes the marker durably. Needs no free space if there is one already.
  [[nodiscard]] static Result<MarkerFile> open(const std::filesystem::path& directory,
                                               Marker marker);

  [[nodiscard]] const Marker& marker() const { return marker_; }

  /// A failed write is ignored: the marker then stays a lower bound.
  void note(std::int64_t position, std::int64_t base);
  /// Notes that the server ended in order, durably if possible.
  void note_end(std::int64_t position, std::int64_t base);

 private:
  MarkerFile(Descriptor file, Marker marker) : file_(std::move(file)), marker_(std::move(marker)) {}
  void write() const;

  Descriptor file_;
  Marker marker_;
};

}  // namespace postrider::sqlite
