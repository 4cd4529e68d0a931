#include "adapters/system/environment.h"

#include <cstdlib>

#include <unistd.h>

namespace postrider {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  if (value == nullptr) {
    return std::nullopt;
  }
  return value;
}

bool stdout_has_colour() {
  return ::isatty(STDOUT_FILENO) == 1 && environment_variable("NO_COLOR").value_or("").empty() &&
         environment_variable("TERM").value_or("dumb") != "dumb";
}

}  // namespace postrider
