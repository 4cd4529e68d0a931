#include "adapters/amqp/waiting.h"

#include <array>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/base/assert.h"

namespace postrider::amqp {

Deadline::Deadline(Millis span)
    : timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  POSTRIDER_ASSERT(timer_ >= 0);
  restart(span);
}

Deadline::~Deadline() { ::close(timer_); }

void Deadline::restart(Millis span) {
  itimerspec spec{};
  // A time of zero would disarm the timer without a trace. It is as over as one in the past.
  spec.it_value = {.tv_sec = span.count() / 1'000, .tv_nsec = (span.count() % 1'000) * 1'000'000};
  POSTRIDER_ASSERT(::timerfd_settime(timer_, 0, &spec, nullptr) == 0);
}

Millis Deadline::left() const {
  itimerspec left{};
  POSTRIDER_ASSERT(::timerfd_gettime(timer_, &left) == 0);
  const bool is_over = left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0;
  return is_over ? Millis{0}
                 : Millis{left.it_value.tv_sec * 1'000 + left.it_value.tv_nsec / 1'000'000 + 1};
}

WakeUp::WakeUp() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  POSTRIDER_ASSERT(event_ >= 0);
}

WakeUp::~WakeUp() { ::close(event_); }

void WakeUp::set() { ::eventfd_write(event_, 1); }

bool WakeUp::wait(int socket, Millis time) {
  std::array<pollfd, 2> polled{pollfd{.fd = event_, .events = POLLIN, .revents = 0},
                               pollfd{.fd = socket, .events = POLLIN, .revents = 0}};
  ::poll(polled.data(), polled.size(), static_cast<int>(time.count()));
  eventfd_t count = 0;
  return ::eventfd_read(event_, &count) == 0;
}

}  // namespace postrider::amqp
