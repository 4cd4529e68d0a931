#include "adapters/redis/wake_up.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/base/assert.h"

namespace postrider::redis {

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    ::close(number_);
  }
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Timer::Timer() : descriptor_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  POSTRIDER_ASSERT(descriptor_.get() >= 0);
}

void Timer::start(Millis wait) {
  // Zero would stop the timer.
  const auto nanoseconds =
      std::max(std::chrono::nanoseconds{wait}, std::chrono::nanoseconds{1}).count();
  constexpr std::int64_t second = 1'000'000'000;
  itimerspec spec{};
  spec.it_value.tv_sec = nanoseconds / second;
  spec.it_value.tv_nsec = nanoseconds % second;
  POSTRIDER_ASSERT(::timerfd_settime(descriptor_.get(), 0, &spec, nullptr) == 0);
}

bool Timer::has_passed() const {
  pollfd watched{descriptor_.get(), POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1;
}

Signal::Signal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  POSTRIDER_ASSERT(descriptor_.get() >= 0);
}

void Signal::set() {
  const std::uint64_t one = 1;
  // Fails only if the counter is full, and then the signal is set.
  [[maybe_unused]] const ssize_t written = ::write(descriptor_.get(), &one, sizeof one);
}

bool Signal::take() {
  std::uint64_t count = 0;
  return ::read(descriptor_.get(), &count, sizeof count) == sizeof count;
}

}  // namespace postrider::redis
