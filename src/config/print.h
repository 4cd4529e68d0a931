// Prints the effective configuration with its origins, and the reference of all settings.
#pragma once

#include <string>

#include "config/load.h"

namespace postrider::config {

/// Returns TOML that loads as the same configuration, with the origin of each value in a comment.
/// Never contains secrets.
[[nodiscard]] std::string print_config(const Loaded& loaded);

/// The same as a JSON object: `settings` by key, each with its value and its origin.
[[nodiscard]] std::string print_config_json(const Loaded& loaded);

/// The contents of docs/configuration.md.
[[nodiscard]] std::string print_reference();

}  // namespace postrider::config
