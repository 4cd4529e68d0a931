// How far a long piece of work has come, on standard error: a bar on a terminal, else now and then
// a line.
#pragma once

#include <cstdint>
#include <string>

namespace postrider::cli {

struct ProgressState {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: not known yet.
  std::string note;         // `2 failed, 5 s left`; may be empty.
};

class Progress {
 public:
  /// `silent`: nothing is shown, for programs that read standard error.
  Progress(std::string label, bool silent);
  /// Ends the bar's line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const ProgressState& state);

 private:
  std::string label_;
  bool silent_;
  bool terminal_;
  bool drawn_ = false;
  std::uint64_t tenths_shown_ = 0;
};

/// `retry  [##########----------]  50 %  5 of 10, 2 failed`. Pure.
[[nodiscard]] std::string bar_text(const std::string& label, const ProgressState& state);

}  // namespace postrider::cli
