// What `postrider migrate` and `postrider backup` were asked to do: work on a data directory
// itself, which main performs because it knows the store.
#pragma once

#include <string>

namespace postrider::cli {

struct MigrateOptions {
  std::string data_directory;
  bool check = false;  // Only say whether there is something to do.
  bool json = false;
};

struct BackupOptions {
  std::string data_directory;
  std::string to;
  bool force = false;  // Replace a file that is there.
  bool json = false;
};

}  // namespace postrider::cli
