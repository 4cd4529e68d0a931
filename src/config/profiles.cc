#include "config/profiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace postrider::config {

std::vector<std::string_view> profile_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, text] : embedded_profiles()) {
    names.push_back(name);
  }
  return names;
}

Result<std::string_view> find_profile(std::string_view name) {
  for (const auto& [each, text] : embedded_profiles()) {
    if (each == name) {
      return text;
    }
  }
  return fail(Errc::invalid, fmt::format("there is no profile `{}`; there are {}.", name,
                                         fmt::join(profile_names(), ", ")));
}

}  // namespace postrider::config
