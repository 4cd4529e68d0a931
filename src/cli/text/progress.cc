#include "cli/text/progress.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/text/print.h"

namespace postrider::cli {
namespace {

constexpr std::uint64_t bar_width = 30;

std::string counts_text(const ProgressState& state) {
  const std::string counts = state.total == 0 ? fmt::format("{} done", state.done)
                                              : fmt::format("{} of {}", state.done, state.total);
  return state.note.empty() ? counts : counts + ", " + state.note;
}

double share_of(const ProgressState& state) {
  return state.total == 0
             ? 0.0
             : std::min(1.0, static_cast<double>(state.done) / static_cast<double>(state.total));
}

}  // namespace

std::string bar_text(const std::string& label, const ProgressState& state) {
  const double share = share_of(state);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(bar_width));
  return fmt::format("{}  [{}{}] {:3.0f} %  {}", label, std::string(filled, '#'),
                     std::string(bar_width - filled, '-'), share * 100, counts_text(state));
}

Progress::Progress(std::string label, ProgressOptions options)
    : label_(std::move(label)), options_(options) {}

Progress::~Progress() {
  if (drawn_) {
    print_error("\n");
  }
}

void Progress::show(const ProgressState& state) {
  if (options_.silent) {
    return;
  }
  if (options_.terminal) {
    print_error("\r\x1b[K" + bar_text(label_, state));
    drawn_ = true;
    return;
  }
  // One line per tenth, so that a log is not flooded.
  const auto tenths = static_cast<std::uint64_t>(share_of(state) * 10);
  if (tenths > tenths_shown_) {
    tenths_shown_ = tenths;
    print_error(fmt::format("{}: {}\n", label_, counts_text(state)));
  }
}

}  // namespace postrider::cli
