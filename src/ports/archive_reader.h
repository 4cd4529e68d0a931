// Reads a file of a retention archive (ports/archive.h) back. Implemented by adapters/zstd.
#pragma once

#include <functional>
#include <string_view>

#include "core/base/result.h"

namespace postrider {

/// Reads the lines of one file that arrives in pieces. One thread.
class ArchiveReader {
 public:
  /// Called for each line, without its line break. A failure stops reading.
  using OnLine = std::function<Result<void>(std::string_view line)>;

  virtual ~ArchiveReader() = default;

  /// Fails with corrupt, or with the error of `on_line`.
  [[nodiscard]] virtual Result<void> feed(std::string_view compressed, const OnLine& on_line) = 0;

  /// True if the compressed data is complete and the last line has its line break.
  [[nodiscard]] virtual bool at_end() const = 0;

 protected:
  ArchiveReader() = default;
  ArchiveReader(const ArchiveReader&) = default;
  ArchiveReader& operator=(const ArchiveReader&) = default;
};

}  // namespace postrider
