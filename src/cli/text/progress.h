// Shows progress on standard error: a bar on a terminal, otherwise a line per tenth.
#pragma once

#include <cstdint>
#include <string>

namespace postrider::cli {

struct ProgressState {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: not known yet.
  std::string note;         // `2 failed, 5 s left`; may be empty.
};

struct ProgressOptions {
  bool silent = false;    // Shows nothing, for programs that read standard error.
  bool terminal = false;  // Standard error is a terminal.
};

class Progress {
 public:
  Progress(std::string label, ProgressOptions options);
  /// Ends the line of the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const ProgressState& state);

 private:
  std::string label_;
  ProgressOptions options_;
  bool drawn_ = false;
  std::uint64_t tenths_shown_ = 0;
};

/// `retry  [##########----------]  50 %  5 of 10, 2 failed`. Pure.
[[nodiscard]] std::string bar_text(const std::string& label, const ProgressState& state);

}  // namespace postrider::cli
