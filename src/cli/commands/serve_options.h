// The options of `postrider serve`: sources of the configuration, and settings from flags.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "config/layer.h"

namespace postrider::cli {

struct ServeOptions {
  std::string config_file;                  // --config
  std::string profile;                      // --profile
  std::vector<config::Override> overrides;  // Settings from flags.
  bool print_config = false;                // Print the effective configuration and exit.
  bool print_reference = false;             // Print docs/configuration.md and exit.
  // For tests, which need shorter times than days. Zero: as configured.
  std::chrono::milliseconds retention_events{0};
  std::chrono::milliseconds retention_dead_letters{0};
  std::chrono::milliseconds retention_operations{0};
  bool accept_data_loss = false;  // Open a store that lost its newest transactions.
  bool json = false;              // Print JSON lines instead of text.
};

}  // namespace postrider::cli
