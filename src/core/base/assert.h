// Assertions for programmer errors. They stay on in release builds: a server that knows its state
// is wrong must stop before it writes that state down. What the network, the disk or a tenant can
// send is never asserted; it is an error value.
#pragma once

namespace postrider {

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace postrider

#define POSTRIDER_ASSERT(expression)                                  \
  do {                                                                \
    if (!(expression)) [[unlikely]] {                                 \
      ::postrider::assertion_failed(#expression, __FILE__, __LINE__); \
    }                                                                 \
  } while (false)
