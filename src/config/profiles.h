// Profiles: named sets of defaults, built into the program so that --profile needs no file.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/base/embedded_file.h"
#include "core/base/result.h"

namespace postrider::config {

/// The files in deploy/profiles.
[[nodiscard]] std::span<const EmbeddedFile> embedded_profiles();

[[nodiscard]] std::vector<std::string_view> profile_names();

/// Fails with invalid if there is no such profile; the message lists the names and has no origin.
[[nodiscard]] Result<std::string_view> find_profile(std::string_view name);

}  // namespace postrider::config
