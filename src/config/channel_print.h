// Prints the configured notification channels, and the reference of their settings.
#pragma once

#include <string>

#include "config/load.h"

namespace postrider::config {

/// `[[notification_channels]]` tables that load as the same channels, except for URLs, of which
/// only the host is shown.
[[nodiscard]] std::string print_channels(const Loaded& loaded);

/// The items of a JSON array.
[[nodiscard]] std::string print_channels_json(const Loaded& loaded);

/// The section of docs/configuration.md.
[[nodiscard]] std::string print_channel_reference();

}  // namespace postrider::config
