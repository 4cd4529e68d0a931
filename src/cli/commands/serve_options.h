// What `postrider serve` was asked to do: where the configuration is, and what the flags say
// instead.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "config/layer.h"

namespace postrider::cli {

struct ServeOptions {
  std::string config_file;                  // --config
  std::string profile;                      // --profile
  std::vector<config::Override> overrides;  // Every other flag is a setting.
  bool print_config = false;                // Print what would be in force, and do nothing else.
  bool print_reference = false;             // Print docs/configuration.md as it should be.
  // For tests, which have no days to wait. Zero: as configured.
  std::chrono::milliseconds retention_events{0};
  std::chrono::milliseconds retention_dead_letters{0};
  std::chrono::milliseconds retention_operations{0};
  bool json = false;  // What is printed for people becomes JSON lines.
};

}  // namespace postrider::cli
