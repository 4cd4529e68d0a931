// Lines of text out of Zstandard data that comes in pieces. Holds one line and one block at a time,
// however large the file is. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace postrider::zstd {

/// An archived line holds one event or attempt; far more is an attack or a damaged file.
constexpr std::size_t line_bytes_max = std::size_t{64} * 1024 * 1024;

class LineReader {
 public:
  /// Called for each line, without its line break. Its failure ends the reading.
  using OnLine = std::function<Result<void>(std::string_view line)>;

  LineReader();

  /// Fails with corrupt, or with what `on_line` failed with.
  [[nodiscard]] Result<void> feed(std::string_view compressed, const OnLine& on_line);

  /// All frames are complete and the last line has its line break.
  [[nodiscard]] bool at_end() const { return frame_complete_ && line_.empty(); }

 private:
  struct Free {
    void operator()(void* stream) const;
  };

  [[nodiscard]] Result<void> take(std::string_view text, const OnLine& on_line);

  std::unique_ptr<void, Free> stream_;
  std::string block_;
  std::string line_;  // What came since the last line break.
  bool frame_complete_ = true;
};

}  // namespace postrider::zstd
