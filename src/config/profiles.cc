#include "config/profiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace postrider::config {

std::vector<std::string_view> profile_names() {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& profile : embedded_profiles()) {
    names.push_back(profile.name);
  }
  return names;
}

Result<std::string_view> find_profile(std::string_view name) {
  for (const EmbeddedFile& profile : embedded_profiles()) {
    if (profile.name == name) {
      return profile.text;
    }
  }
  return fail(Errc::invalid, fmt::format("there is no profile `{}`; use one of {}.", name,
                                         fmt::join(profile_names(), ", ")));
}

}  // namespace postrider::config
