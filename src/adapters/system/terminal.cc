#include "adapters/system/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "adapters/system/environment.h"

namespace postrider {
namespace {

class SystemTerminal final : public Terminal {
 public:
  [[nodiscard]] std::optional<std::size_t> stdout_columns() const override {
    if (::isatty(STDOUT_FILENO) != 1) {
      return std::nullopt;
    }
    constexpr std::size_t columns_assumed = 80;
    winsize size{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : columns_assumed;
  }

  [[nodiscard]] bool stdout_has_colour() const override {
    return ::isatty(STDOUT_FILENO) == 1 && environment_variable("NO_COLOR").value_or("").empty() &&
           environment_variable("TERM").value_or("dumb") != "dumb";
  }

  [[nodiscard]] bool stderr_is_terminal() const override { return ::isatty(STDERR_FILENO) == 1; }
};

}  // namespace

std::unique_ptr<Terminal> make_system_terminal() { return std::make_unique<SystemTerminal>(); }

}  // namespace postrider
