// The configuration as text: what is in force and why, and what there is to set.
#pragma once

#include <string>

#include "config/load.h"

namespace postrider::config {

/// Valid TOML that gives the same configuration again, with the origin of each value behind it.
/// Secrets are never part of it.
[[nodiscard]] std::string print_config(const Loaded& loaded);

/// The same as one JSON object: `settings` by their key, each with its value and its origin.
[[nodiscard]] std::string print_config_json(const Loaded& loaded);

/// docs/configuration.md, as it should be.
[[nodiscard]] std::string print_reference();

}  // namespace postrider::config
