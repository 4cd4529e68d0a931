// Builds the configured notification channels out of the `[[notification_channels]]` tables.
#pragma once

#include "core/base/result.h"

#include "config/load.h"

namespace postrider::config {

/// Adds the channels of `file` to `loaded`, whose other settings are complete. Fails with invalid;
/// the message names the origin of the wrong value and contains no URL and no secret.
[[nodiscard]] Result<void> add_channels(const Layer& file, const Variables& variables,
                                        Loaded& loaded);

/// Reads the password of the mail server from its variable. Fails with invalid.
[[nodiscard]] Result<void> complete_smtp(const Variables& variables, Loaded& loaded);

}  // namespace postrider::config
