// Rules that involve several settings.
#pragma once

#include "core/base/result.h"

#include "config/load.h"

namespace postrider::config {

/// Also derives the rate limit and the number of attempts of `webhooks.defaults`. Fails with
/// invalid; the message names the settings and the origin of the value.
[[nodiscard]] Result<void> check(Loaded& loaded);

}  // namespace postrider::config
