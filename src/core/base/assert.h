// Assertions for programmer errors. They are enabled in release builds: a server whose state is
// wrong must stop before it stores that state. Input from the network, the disk or a tenant is
// never asserted; bad input is reported as an error value.
#pragma once

namespace postrider {

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace postrider

#define POSTRIDER_ASSERT(expression) \
  ((expression) ? void() : ::postrider::assertion_failed(#expression, __FILE__, __LINE__))
