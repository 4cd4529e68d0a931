#include "engine/alerts/alert_text.h"

#include <cmath>

#include <fmt/format.h>

namespace postrider {
namespace {

constexpr Millis minute{60'000};
constexpr Millis second{1'000};

}  // namespace

std::string duration_text(Millis length) {
  if (length >= minute && length % minute == Millis{0}) {
    return fmt::format("{} minute{}", length / minute, length == minute ? "" : "s");
  }
  return length >= second && length % second == Millis{0} ? fmt::format("{} s", length / second)
                                                          : fmt::format("{} ms", length.count());
}

double percentage_of(const ShareWindow::Count& count) {
  if (count.total == 0) {
    return 0;
  }
  const double exact = static_cast<double>(count.part) * 100.0 / static_cast<double>(count.total);
  return std::round(exact * 1000.0) / 1000.0;
}

std::string share_text(const ShareWindow::Count& count, const char* things) {
  return fmt::format("{} of {} {} ({} %)", count.part, count.total, things, percentage_of(count));
}

}  // namespace postrider
