// The configuration as GET /v1/settings shows it. Pure.
#pragma once

#include <vector>

#include "api/resources/api_options.h"
#include "config/load.h"

namespace postrider {

/// All settings in the order of docs/configuration.md, then the secrets from the environment, whose
/// values are hidden.
[[nodiscard]] std::vector<api::SettingInForce> settings_in_force(const config::Loaded& loaded);

}  // namespace postrider
