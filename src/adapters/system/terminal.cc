#include "adapters/system/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace postrider {

std::optional<std::size_t> stdout_columns() {
  if (::isatty(STDOUT_FILENO) != 1) {
    return std::nullopt;
  }
  constexpr std::size_t columns_assumed = 80;
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : columns_assumed;
}

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace postrider
