#include "adapters/system/clock_file.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace postrider {
namespace {

namespace fs = std::filesystem;

// Smaller differences come from the normal correction of a clock and matter to nobody.
constexpr Millis difference_min{1'000};

}  // namespace

std::optional<ClockRecord> read_clock_file(const std::string& path) {
  std::ifstream file{path};
  std::int64_t wall_ms = 0;
  std::int64_t steady_ms = 0;
  if (!(file >> wall_ms >> steady_ms)) {
    return std::nullopt;
  }
  return ClockRecord{.wall = wall_from_unix_ms(wall_ms), .steady = wall_from_unix_ms(steady_ms)};
}

Result<void> write_clock_file(const std::string& path, const ClockRecord& record) {
  std::error_code error;
  if (std::chrono::abs(record.steady - record.wall) < difference_min) {
    fs::remove(path, error);
  } else {
    const std::string next = path + ".new";
    std::ofstream file{next, std::ios::trunc};
    file << fmt::format("{} {}\n", to_unix_ms(record.wall), to_unix_ms(record.steady));
    file.close();
    if (!file) {
      return fail(Errc::unavailable, fmt::format("Cannot write {}.", next));
    }
    fs::rename(next, path, error);
  }
  if (error) {
    return fail(Errc::unavailable, fmt::format("Cannot write {}: {}.", path, error.message()));
  }
  return {};
}

}  // namespace postrider
