#include "adapters/system/environment.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <unistd.h>

namespace postrider {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  if (value == nullptr) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::pair<std::string, std::string>> environment_variables(std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && line.starts_with(prefix)) {
      found.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  std::ranges::sort(found);
  return found;
}

std::string host_name() {
  std::array<char, 256> name{};
  // The last byte stays zero.
  return ::gethostname(name.data(), name.size() - 1) == 0 && name.front() != 0 ? name.data()
                                                                               : "localhost";
}

}  // namespace postrider
