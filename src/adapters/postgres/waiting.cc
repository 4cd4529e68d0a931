#include "adapters/postgres/waiting.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/assert.h"

namespace postrider::postgres {
namespace {

constexpr Millis poll_max = std::chrono::hours{1};  // Fits the parameter of poll().

itimerspec after(Millis span) {
  // A timer of zero would be disarmed.
  const std::int64_t ms = std::max<std::int64_t>(span.count(), 0);
  itimerspec spec{};
  spec.it_value.tv_sec = ms / 1'000;
  spec.it_value.tv_nsec = ms == 0 ? 1 : (ms % 1'000) * 1'000'000;
  return spec;
}

short events_of(Direction direction) {
  switch (direction) {
    case Direction::read:
      return POLLIN;
    case Direction::write:
      return POLLOUT;
    case Direction::either:
      break;
  }
  return POLLIN | POLLOUT;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Interruption::Interruption() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_.get() < 0) {
    throw std::system_error(errno, std::generic_category(), "eventfd");
  }
}

void Interruption::set() {
  const std::uint64_t one = 1;
  // Fails only if the counter is full, and then the descriptor is readable already.
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

void Interruption::clear() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t taken = ::read(event_.get(), &count, sizeof count);
}

bool Interruption::is_set() const {
  pollfd polled{event_.get(), POLLIN, 0};
  return ::poll(&polled, 1, 0) > 0;
}

Deadline::Deadline(Millis span) {
  sigevent nothing{};
  nothing.sigev_notify = SIGEV_NONE;
  has_timer_ = ::timer_create(CLOCK_MONOTONIC, &nothing, &timer_) == 0;
  if (has_timer_) {
    const itimerspec spec = after(span);
    POSTRIDER_ASSERT(::timer_settime(timer_, 0, &spec, nullptr) == 0);
  }
}

Deadline::~Deadline() {
  if (has_timer_) {
    ::timer_delete(timer_);
  }
}

Millis Deadline::left() const {
  itimerspec left{};
  POSTRIDER_ASSERT(!has_timer_ || ::timer_gettime(timer_, &left) == 0);
  const bool is_over = left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0;
  // Rounded up, so that zero means the end.
  return is_over ? Millis{0}
                 : Millis{left.it_value.tv_sec * 1'000 + left.it_value.tv_nsec / 1'000'000 + 1};
}

void Deadline::shorten(Millis span) {
  if (span < left()) {
    const itimerspec spec = after(span);
    POSTRIDER_ASSERT(::timer_settime(timer_, 0, &spec, nullptr) == 0);
  }
}

Woken wait(int socket, Direction direction, const Interruption* interruption,
           const Deadline& deadline) {
  while (true) {
    pollfd polled[2] = {{socket, events_of(direction), 0},
                        {interruption == nullptr ? -1 : interruption->descriptor(), POLLIN, 0}};
    const Millis left = std::min(deadline.left(), poll_max);
    if (::poll(polled, 2, static_cast<int>(left.count())) < 0) {
      POSTRIDER_ASSERT(errno == EINTR || errno == ENOMEM);
      continue;
    }
    if (polled[0].revents != 0) {
      return Woken::ready;
    }
    if (polled[1].revents != 0) {
      return Woken::interrupted;
    }
    if (left == Millis{0}) {
      return Woken::expired;
    }
  }
}

}  // namespace postrider::postgres
