// Prints the configured sources of events, and the reference of their settings.
#pragma once

#include <string>

#include "config/load.h"

namespace postrider::config {

/// `[[sources]]` tables that load as the same sources, except for passwords, which are not shown.
[[nodiscard]] std::string print_sources(const Loaded& loaded);

/// The items of a JSON array.
[[nodiscard]] std::string print_sources_json(const Loaded& loaded);

/// The section of docs/configuration.md.
[[nodiscard]] std::string print_source_reference();

}  // namespace postrider::config
