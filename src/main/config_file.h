// Reads the configuration file, for the commands that have a configuration.
#pragma once

#include <string>

#include "core/base/result.h"

namespace postrider {

/// Fails with invalid; the message says why.
[[nodiscard]] Result<std::string> read_config_file(const std::string& path);

}  // namespace postrider
