// Builds the configured sources of events out of the `[[sources]]` tables.
#pragma once

#include "core/base/result.h"

#include "config/load.h"

namespace postrider::config {

/// Adds the sources of `file` to `loaded`, whose other settings are complete. Fails with invalid;
/// the message names the origin of the wrong value and contains no address.
[[nodiscard]] Result<void> add_sources(const Layer& file, const Variables& variables,
                                       Loaded& loaded);

}  // namespace postrider::config
