// The options of `postrider migrate`, `postrider backup` and `postrider copy`. Main implements
// these commands, because they need the store.
#pragma once

#include <string>
#include <vector>

#include "core/base/secret.h"

#include "config/layer.h"

namespace postrider::cli {

struct MigrateOptions {
  std::string data_directory;
  Secret<std::string> database;  // If not empty: the store, in place of the data directory.
  bool check = false;            // Only report whether a migration is pending.
  bool json = false;
};

struct BackupOptions {
  std::string data_directory;
  std::string to;
  bool force = false;  // Replace an existing file.
  bool json = false;
};

struct CopyStoreOptions {
  std::string config_file;
  std::vector<config::Override> overrides;  // Of the data directory, the database and the key.
  bool verify_only = false;                 // Compare an earlier copy with its original.
  bool json = false;
};

}  // namespace postrider::cli
