// Reads lines of text from Zstandard data that arrives in pieces. Holds only one line and one block
// in memory. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "ports/archive_reader.h"

namespace postrider::zstd {

/// An archived line is one event or attempt. A longer line means an attack or a damaged file.
constexpr std::size_t line_bytes_max = std::size_t{64} * 1024 * 1024;

class LineReader final : public ArchiveReader {
 public:
  LineReader();

  [[nodiscard]] Result<void> feed(std::string_view compressed, const OnLine& on_line) override;

  /// True if all frames are complete and the last line has its line break.
  [[nodiscard]] bool at_end() const override { return frame_complete_ && line_.empty(); }

 private:
  struct Free {
    void operator()(void* stream) const;
  };

  [[nodiscard]] Result<void> take(std::string_view text, const OnLine& on_line);

  std::unique_ptr<void, Free> stream_;
  std::string block_;
  std::string line_;  // The text since the last line break.
  bool frame_complete_ = true;
};

}  // namespace postrider::zstd
