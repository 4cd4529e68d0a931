#include "adapters/sqlite/database/store_size.h"

#include <cstdint>
#include <system_error>

#include "adapters/sqlite/database/data_directory.h"

namespace postrider {
namespace {

namespace fs = std::filesystem;

MetricSample file_sample(const char* name, std::uintmax_t bytes) {
  return {.name = "postrider_store_bytes",
          .help = "Size of the store by file: database, write_ahead_log",
          .labels = {{"file", name}},
          .value = static_cast<double>(bytes)};
}

}  // namespace

std::vector<MetricSample> store_size_samples(const fs::path& directory) {
  std::vector<MetricSample> samples;
  const fs::path database = sqlite::database_file(directory);
  // By name only. Opening the database and closing it again would drop the locks that SQLite holds.
  std::error_code error;
  if (const std::uintmax_t bytes = fs::file_size(database, error); !error) {
    samples.push_back(file_sample("database", bytes));
  }
  // SQLite creates the log with the first change and removes it with the last connection.
  const std::uintmax_t log_bytes = fs::file_size(database.native() + "-wal", error);
  samples.push_back(file_sample("write_ahead_log", error ? 0 : log_bytes));
  const fs::space_info space = fs::space(directory, error);
  if (!error) {
    samples.push_back({.name = "postrider_store_free_bytes",
                       .help = "Space that the store can still use on its file system",
                       .labels = {},
                       .value = static_cast<double>(space.available)});
    samples.push_back({.name = "postrider_store_filesystem_bytes",
                       .help = "Size of the file system of the store",
                       .labels = {},
                       .value = static_cast<double>(space.capacity)});
  }
  return samples;
}

}  // namespace postrider
