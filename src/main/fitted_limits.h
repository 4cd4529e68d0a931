// The limits of the configuration, as far as the limit of open files allows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "config/config.h"

namespace postrider {

struct FittedLimits {
  config::Config config;        // With limits that fit, and the number of io threads.
  std::size_t idle_per_thread;  // Connections to webhooks that an io thread keeps for reuse.
  std::uint64_t needed;         // Descriptors with which everything would have fitted.
  bool is_lowered = false;      // Something did not fit.
};

/// Pure. `cores` determines the number of io threads if it is not configured.
[[nodiscard]] FittedLimits fit_limits(config::Config config, std::size_t cores,
                                      std::uint64_t descriptors);

/// A log line that says what was lowered and what can be done about it.
[[nodiscard]] std::string describe(const FittedLimits& fitted, std::uint64_t descriptors);

/// Raises the limit of open files as far as this process may, and returns it.
[[nodiscard]] std::uint64_t raise_descriptor_limit();

}  // namespace postrider
