// The profiles: whole sets of defaults by name, in the binary so that --profile needs no file.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace postrider::config {

/// Name and TOML of each. Written by the build from deploy/profiles.
[[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& embedded_profiles();

[[nodiscard]] std::vector<std::string_view> profile_names();

/// Errc::invalid with a sentence, to come after the place, that lists the names.
[[nodiscard]] Result<std::string_view> find_profile(std::string_view name);

}  // namespace postrider::config
