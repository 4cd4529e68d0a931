// What must hold between settings that are fine one by one.
#pragma once

#include "core/base/result.h"

#include "config/load.h"

namespace postrider::config {

/// Also fills in what follows from several settings: the limits of `webhooks.defaults`.
/// Errc::invalid with a sentence naming the settings and where they come from.
[[nodiscard]] Result<void> check(Loaded& loaded);

}  // namespace postrider::config
