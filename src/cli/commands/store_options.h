// The options of `postrider migrate` and `postrider backup`. Main implements both commands, because
// they need the store.
#pragma once

#include <string>

namespace postrider::cli {

struct MigrateOptions {
  std::string data_directory;
  bool check = false;  // Only report whether a migration is pending.
  bool json = false;
};

struct BackupOptions {
  std::string data_directory;
  std::string to;
  bool force = false;  // Replace an existing file.
  bool json = false;
};

}  // namespace postrider::cli
