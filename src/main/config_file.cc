#include "main/config_file.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

namespace postrider {

Result<std::string> read_config_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
  if (!file.is_open() || file.bad()) {
    return fail(Errc::invalid, fmt::format("Cannot read the configuration file {}: {}.", path,
                                           std::generic_category().message(errno)));
  }
  return text;
}

}  // namespace postrider
