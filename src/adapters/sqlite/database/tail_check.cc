#include "adapters/sqlite/database/tail_check.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "adapters/sqlite/database/data_directory.h"

namespace postrider::sqlite {
namespace {

namespace fs = std::filesystem;

fs::path log_file(const fs::path& directory) { return database_file(directory).string() + "-wal"; }

/// 0 if the file is missing.
std::uintmax_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

std::string describe_log(const fs::path& directory) {
  const fs::path file = log_file(directory);
  const std::uintmax_t size = size_of(file);
  return size == 0 ? fmt::format("{} is missing or empty", file.string())
                   : fmt::format("{} has {} bytes", file.string(), size);
}

/// What the database file holds without its log. Nullopt if that cannot be read: a crash during a
/// checkpoint leaves a file that only its log completes.
std::optional<StoreState> read_file_alone(const SqliteOptions& options) {
  Result<Database> database = Database::open({.file = database_file(options.directory),
                                              .access = Access::read,
                                              .vfs = options.vfs,
                                              .ignores_log = true});
  if (!database) {
    return std::nullopt;
  }
  Result<std::optional<StoreState>> state = read_store_state(*database);
  return state ? *std::move(state) : std::nullopt;
}

Result<std::optional<StoreState>> read_with_log(const SqliteOptions& options) {
  POSTRIDER_TRY(Database database, Database::open({.file = database_file(options.directory),
                                                   .access = Access::read,
                                                   .vfs = options.vfs}));
  return read_store_state(database);
}

/// The file alone must hold at least what a checkpoint has copied into it.
void check_file_alone(const SqliteOptions& options, const StoreState& alone, TailCheck& check) {
  const bool has_log = size_of(log_file(options.directory)) > 0;
  const std::string file = database_file(options.directory).string();
  if (alone.copied) {
    check.restored = true;
    check.foreign_log = has_log;
    if (has_log) {
      check.loss = fmt::format(
          "{} is a restored backup, but its log {} belongs to the database that was here before. "
          "Delete {}-wal and {}-shm.",
          file, log_file(options.directory).string(), file, file);
    }
    return;
  }
  const bool other = check.marker && alone.identity != check.marker->identity;
  if (check.marker && !other && alone.position < check.marker->base) {
    check.foreign_log = has_log;
    check.loss =
        fmt::format("{} is an older copy: it holds {} transactions, and {} had been written to it.",
                    file, alone.position, check.marker->base);
  } else if (other) {
    check.foreign_log = has_log;
    check.loss = fmt::format("{} is another database than the one that was used here last.", file);
  }
}

void compare(const SqliteOptions& options, const std::optional<StoreState>& found,
             TailCheck& check) {
  const Marker& marker = *check.marker;
  const std::string file = database_file(options.directory).string();
  if (!found || found->identity != marker.identity) {
    check.loss = fmt::format("{} is another database than the one that was used here last.", file);
  } else if (found->position < marker.position) {
    check.loss = fmt::format("The store lost its newest transactions: {} of {} are there ({}{}).",
                             found->position, marker.position, describe_log(options.directory),
                             marker.clean ? "" : "; the server had not ended in order");
  }
}

}  // namespace

Result<std::optional<StoreState>> read_store_state(Database& database) {
  POSTRIDER_TRY(Statement tables,
                database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'store_state'"));
  {
    Query query = tables.query();
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return std::nullopt;
    }
  }
  POSTRIDER_TRY(Statement state, database.prepare("SELECT lower(hex(identity)), position, copied"
                                                  "  FROM store_state WHERE state = 1"));
  Query query = state.query();
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return fail(Errc::corrupt, "The table store_state is empty.");
  }
  return StoreState{
      .identity = query.text(0), .position = query.integer(1), .copied = query.integer(2) != 0};
}

Result<TailCheck> check_tail(const SqliteOptions& options) {
  TailCheck check;
  Result<std::optional<Marker>> marker = read_marker(options.directory);
  if (!marker && marker.error().code != Errc::corrupt) {
    return tl::make_unexpected(marker.error());
  }
  const fs::path file = database_file(options.directory);
  if (!marker) {
    check.loss = marker.error().message + " Whether the database is complete cannot be checked.";
    return check;
  }
  check.marker = *std::move(marker);
  const bool has_log = size_of(log_file(options.directory)) > 0;
  if (size_of(file) == 0) {
    std::error_code error;
    if (check.marker || has_log) {
      check.foreign_log = has_log;
      check.loss = fmt::format("The database {} is {}, although there was a store here before.",
                               file.string(), fs::exists(file, error) ? "empty" : "missing");
    }
    return check;
  }
  if (const std::optional<StoreState> alone = read_file_alone(options)) {
    check_file_alone(options, *alone, check);
  }
  if (check.loss || check.restored || !check.marker) {
    return check;
  }
  POSTRIDER_TRY(const std::optional<StoreState> found, read_with_log(options));
  compare(options, found, check);
  return check;
}

std::string refusal_of(const std::string& loss) {
  return loss +
         "\nThe server does not start, because it would continue without this data. Put the "
         "missing files back or restore a backup. To continue with what is there, start it once "
         "with --accept-data-loss.";
}

Result<void> set_log_aside(const fs::path& directory) {
  const fs::path log = log_file(directory);
  std::error_code error;
  fs::rename(log, log.string() + ".set-aside", error);
  if (error && error != std::errc::no_such_file_or_directory) {
    return fail(Errc::unavailable,
                fmt::format("Cannot rename {}: {}.", log.string(), error.message()));
  }
  fs::remove(database_file(directory).string() + "-shm", error);
  return sync_directory(directory);
}

}  // namespace postrider::sqlite
