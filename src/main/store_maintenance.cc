#include "main/store_maintenance.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "adapters/openssl/digest.h"
#include "adapters/postgres/store/database/maintenance.h"
#include "adapters/sqlite/database/deep_check.h"
#include "adapters/sqlite/database/maintenance.h"
#include "adapters/system/private_directory.h"
#include "adapters/system/terminal.h"
#include "cli/commands/command_line.h"
#include "cli/text/print.h"
#include "cli/text/progress.h"

namespace postrider {
namespace {

/// As for `serve`: 2 if the store is missing, damaged or in use.
int fail_with(const Error& error) {
  cli::print_error(fmt::format("postrider: {}\n", error.message));
  return error.code == Errc::unavailable ? cli::exit_failed : cli::exit_usage;
}

SqliteOptions store_of(const std::string& directory) {
  return {.directory = directory, .vfs = std::string{}};
}

PostgresOptions database_at(const Secret<std::string>& address) {
  return {.connect = {.address = address, .ca_file = std::string{}}};
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

Result<SchemaVersions> migrate_directory(const cli::MigrateOptions& options) {
  POSTRIDER_CHECK(make_private(options.data_directory));
  const SqliteOptions store = store_of(options.data_directory);
  return options.check ? sqlite_schema_versions(store) : migrate_sqlite(store);
}

Result<SchemaVersions> migrate_database(const cli::MigrateOptions& options) {
  const PostgresOptions database = database_at(options.database);
  return options.check ? postgres_schema_versions(database) : migrate_postgres(database);
}

}  // namespace

int migrate(const cli::MigrateOptions& options) {
  const Result<SchemaVersions> versions =
      options.database.reveal().empty() ? migrate_directory(options) : migrate_database(options);
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

Result<SchemaVersions> read_database_versions(const Secret<std::string>& address) {
  return postgres_schema_versions(database_at(address));
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
