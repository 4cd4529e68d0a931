#include "adapters/system/system_clock.h"

namespace postrider {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Moment now() const override {
    using std::chrono::duration_cast;
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    const auto mono = std::chrono::steady_clock::now().time_since_epoch();
    return {WallTime{duration_cast<Millis>(wall)}, MonoTime{duration_cast<Micros>(mono)}};
  }
};

}  // namespace

std::unique_ptr<Clock> make_system_clock() { return std::make_unique<SystemClock>(); }

}  // namespace postrider
