#include "adapters/system/private_directory.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace postrider {
namespace {

namespace fs = std::filesystem;

constexpr fs::perms for_others = fs::perms::group_all | fs::perms::others_all;

bool is_open(const fs::file_status& status) {
  return (status.permissions() & for_others) != fs::perms::none;
}

Result<void> close_to_others(const fs::path& path) {
  std::error_code error;
  fs::permissions(path, for_others, fs::perm_options::remove, error);
  const bool still_open = !error && is_open(fs::status(path, error));
  if (!error && !still_open) {
    return {};
  }
  return fail(
      Errc::invalid,
      fmt::format("Other users may read or change {}, which contains events and secrets, "
                  "and this cannot be changed: {}. Run `chmod {} {}` as its owner, or use "
                  "another data directory.",
                  path.string(), error ? error.message() : "the file system does not allow it",
                  fs::is_directory(path) ? "700" : "600", path.string()));
}

}  // namespace

Result<std::optional<std::string>> make_private(const std::string& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (!fs::is_directory(status)) {
    return std::nullopt;  // Whoever opens the store reports this.
  }
  const bool was_open = is_open(status);
  if (was_open) {
    POSTRIDER_CHECK(close_to_others(directory));
  }
  for (const fs::directory_entry& entry : fs::directory_iterator{directory, error}) {
    const fs::file_status file = entry.symlink_status(error);
    if (!error && fs::is_regular_file(file) && is_open(file)) {
      POSTRIDER_CHECK(close_to_others(entry.path()));
    }
  }
  if (!was_open) {
    return std::nullopt;
  }
  return fmt::format(
      "The data directory {} was open to other users of this machine. Now only its owner can use "
      "it.",
      directory);
}

}  // namespace postrider
