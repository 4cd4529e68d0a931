#include "core/base/assert.h"

#include <cstdio>
#include <cstdlib>

#include "core/base/assertion_reporter.h"

namespace postrider {
namespace {

void print(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expression);
}

AssertionReporter reporter_in_use = print;

}  // namespace

void assertion_failed(const char* expression, const char* file, int line) noexcept {
  reporter_in_use(expression, file, line);
  std::abort();
}

void set_assertion_reporter(AssertionReporter reporter) { reporter_in_use = reporter; }

}  // namespace postrider
