#include "adapters/system/system_clock.h"

#include <ctime>
#include <mutex>

namespace postrider {
namespace {

class SystemClock final : public Clock {
 public:
  explicit SystemClock(const std::optional<ClockRecord>& earlier)
      : steady_wall_(earlier ? SteadyWall{*earlier} : SteadyWall{}) {}

  [[nodiscard]] Moment now() const override {
    using std::chrono::duration_cast;
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    const auto mono = std::chrono::steady_clock::now().time_since_epoch();
    Moment now{WallTime{duration_cast<Millis>(wall)}, MonoTime{duration_cast<Micros>(mono)}};
    const std::lock_guard lock{mutex_};
    now.steady = steady_wall_.read(now);
    return now;
  }

  [[nodiscard]] MonoTime boot_time() const override {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return MonoTime{std::chrono::seconds{now.tv_sec} +
                    std::chrono::duration_cast<Micros>(std::chrono::nanoseconds{now.tv_nsec})};
  }

 private:
  mutable std::mutex mutex_;
  mutable SteadyWall steady_wall_;  // Guarded by mutex_.
};

}  // namespace

std::unique_ptr<Clock> make_system_clock(const std::optional<ClockRecord>& earlier) {
  return std::make_unique<SystemClock>(earlier);
}

}  // namespace postrider
