// What a failed assertion leaves on standard error.
#pragma once

namespace postrider {

using AssertionReporter = void (*)(const char* expression, const char* file, int line) noexcept;

/// Replaces the default, which prints a line of text. Call before other threads start.
void set_assertion_reporter(AssertionReporter reporter);

}  // namespace postrider
