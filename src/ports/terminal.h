// The terminal that the program writes to. Implemented by adapters/system.
#pragma once

#include <cstddef>
#include <optional>

namespace postrider {

/// Main thread only.
class Terminal {
 public:
  virtual ~Terminal() = default;

  /// The width of the terminal. Returns nullopt if standard output is not a terminal.
  [[nodiscard]] virtual std::optional<std::size_t> stdout_columns() const = 0;

  /// True if standard output is a terminal that supports colour and NO_COLOR is not set.
  [[nodiscard]] virtual bool stdout_has_colour() const = 0;

  [[nodiscard]] virtual bool stderr_is_terminal() const = 0;

 protected:
  Terminal() = default;
  Terminal(const Terminal&) = default;
  Terminal& operator=(const Terminal&) = default;
};

}  // namespace postrider
