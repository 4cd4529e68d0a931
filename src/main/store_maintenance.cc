#include "main/store_maintenance.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "adapters/openssl/digest.h"
#include "adapters/sqlite/database/deep_check.h"
#include "adapters/sqlite/database/maintenance.h"
#include "adapters/system/private_directory.h"
#include "adapters/system/terminal.h"
#include "cli/commands/command_line.h"
#include "cli/text/print.h"
#include "cli/text/progress.h"

namespace postrider {
namespace {

/// As for `serve`: 2 if the data directory is missing, damaged or in use.
int fail_with(const Error& error) {
  cli::print_error(fmt::format("postrider: {}\n", error.message));
  return error.code == Errc::unavailable ? cli::exit_failed : cli::exit_usage;
}

SqliteOptions store_of(const std::string& directory) {
  return {.directory = directory, .vfs = std::string{}};
}

std::string versions_json(const SchemaVersions& versions) {
  return fmt::format("{{\"from\":{},\"to\":{},\"up_to_date\":{}}}\n", versions.found,
                     versions.newest, versions.found == versions.newest);
}

std::string versions_text(const SchemaVersions& versions, bool check) {
  if (versions.found == versions.newest) {
    return fmt::format("The schema is up to date (version {}).\n", versions.newest);
  }
  if (versions.found > versions.newest) {
    return fmt::format(
        "The schema has version {}. This program supports up to {}; use a newer one.\n",
        versions.found, versions.newest);
  }
  return fmt::format("The schema {} from version {} to {}.\n",
                     check ? "can be upgraded" : "was upgraded", versions.found, versions.newest);
}

}  // namespace

int migrate(const cli::MigrateOptions& options) {
  const SqliteOptions store = store_of(options.data_directory);
  if (const auto made = make_private(options.data_directory); !made) {
    return fail_with(made.error());
  }
  const Result<SchemaVersions> versions =
      options.check ? sqlite_schema_versions(store) : migrate_sqlite(store);
  if (!versions) {
    return fail_with(versions.error());
  }
  cli::print(options.json ? versions_json(*versions) : versions_text(*versions, options.check));
  if (versions->found > versions->newest) {
    return cli::exit_usage;
  }
  return options.check && versions->found < versions->newest ? cli::exit_failed : cli::exit_ok;
}

Result<std::vector<std::string>> check_store(
    const std::string& directory,
    const std::function<void(std::uint64_t, std::uint64_t, const std::string&)>& progress) {
  return check_sqlite_deeply({.directory = directory, .digest = sha256}, progress);
}

int back_up(const cli::BackupOptions& options) {
  std::error_code error;
  if (!options.force && std::filesystem::exists(options.to, error)) {
    cli::print_error(fmt::format(
        "postrider: {} already exists.\nChoose another name, or use --force to replace it.\n",
        options.to));
    return cli::exit_failed;
  }
  {
    cli::Progress progress{
        "backup",
        {.silent = options.json, .terminal = make_system_terminal()->stderr_is_terminal()}};
    const Result<void> done =
        back_up_sqlite(store_of(options.data_directory), options.to,
                       [&](std::uint64_t pages, std::uint64_t total) {
                         progress.show({.done = pages, .total = total, .note = {}});
                       });
    if (!done) {
      return fail_with(done.error());
    }
  }
  const std::uintmax_t bytes = std::filesystem::file_size(options.to, error);
  cli::print(options.json ? fmt::format("{{\"bytes\":{}}}\n", bytes)
                          : fmt::format("{} written, {} bytes.\n", options.to, bytes));
  return cli::exit_ok;
}

}  // namespace postrider
