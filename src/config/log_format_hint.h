// The log format for the message that the configuration is invalid.
#pragma once

#include "config/config.h"
#include "config/load.h"

namespace postrider::config {

/// The value of `log.format` as far as it can be told from sources that load() may refuse: the last
/// one that names a format wins, as in load(). A configuration file is searched line by line, so
/// that it need not be valid.
[[nodiscard]] LogFormat hinted_log_format(const Sources& sources);

}  // namespace postrider::config
