#include "adapters/system/copied_mark.h"

#include <fstream>

#include <fmt/format.h>

namespace postrider {

std::string copied_mark_file(const std::string& directory) { return directory + "/copied-to"; }

Result<void> write_copied_mark(const std::string& directory, const std::string& target) {
  const std::string path = copied_mark_file(directory);
  std::ofstream file{path, std::ios::trunc};
  file << target << '\n';
  file.close();
  return file ? Result<void>{} : fail(Errc::unavailable, fmt::format("Cannot write {}.", path));
}

std::optional<std::string> read_copied_mark(const std::string& directory) {
  std::ifstream file{copied_mark_file(directory)};
  if (!file) {
    return std::nullopt;
  }
  std::string target;
  std::getline(file, target);
  return target;
}

}  // namespace postrider
