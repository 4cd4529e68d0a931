// The flags of `postrider migrate` and `postrider backup`.
#include "cli/commands/database_option.h"
#include "cli/commands/subcommand.h"

namespace postrider::cli {
namespace {

constexpr const char* migrate_examples = R"(Examples:
  postrider migrate --data /var/lib/postrider --check
      Checks whether the schema is up to date; exits with 1 if it is not.
  postrider migrate --data /var/lib/postrider
      Migrates the schema. The server must be stopped. It also migrates when it starts.
  POSTRIDER_STORE=postgres://… postrider migrate
      The same for the servers on a PostgreSQL database. All of them must be stopped.

Environment:
  POSTRIDER_DATA, POSTRIDER_STORE  used without --data and --store)";

constexpr const char* backup_examples = R"(Examples:
  postrider backup --data /var/lib/postrider --to /backup/postrider-$(date +%F).db
      Makes a consistent copy, whether or not the server runs. To restore it: stop the server,
      replace postrider.db with the copy, delete postrider.db-wal and postrider.db-shm, start.
      The server recognises the copy as a backup and records the restore in the audit log.

A PostgreSQL database is backed up with pg_dump; see docs/guide/postgresql.md.)";

constexpr const char* default_data = "./postrider-data";

void add_data(Syntax syntax, std::optional<std::string>& data) {
  syntax.option("--data DIR", data, "Data directory; overrides POSTRIDER_DATA")
      .show_default(default_data);
}

std::string choose_data(const std::optional<std::string>& flag, const Environment& environment) {
  return flag ? *flag : environment("POSTRIDER_DATA").value_or(default_data);
}

class MigrateArguments final : public Subcommand {
 public:
  explicit MigrateArguments(Syntax syntax) {
    syntax.footer(migrate_examples);
    add_data(syntax, data_);
    add_database(syntax, database_);
    syntax.flag("--check", options_.check, "Change nothing; exit with 1 if a migration is pending");
    syntax.flag("--json", options_.json, "Print JSON");
  }

  Result<Command> finish(const Environment& environment) override {
    POSTRIDER_TRY(options_.database, choose_database(database_, environment));
    options_.data_directory = choose_data(data_, environment);
    return Command{options_};
  }

 private:
  MigrateOptions options_;
  std::optional<std::string> data_;
  std::optional<std::string> database_;
};

class BackupArguments final : public Subcommand {
 public:
  explicit BackupArguments(Syntax syntax) {
    syntax.footer(backup_examples);
    add_data(syntax, data_);
    syntax.option("--to FILE", options_.to, "File to write").required();
    syntax.flag("--force", options_.force, "Replace an existing file");
    syntax.flag("--json", options_.json, "Print JSON");
  }

  Result<Command> finish(const Environment& environment) override {
    if (options_.to.empty()) {
      return fail(Errc::invalid, "--to requires a file name.");
    }
    POSTRIDER_TRY(const Secret<std::string> database, choose_database({}, environment));
    if (!database.reveal().empty()) {
      return fail(Errc::invalid,
                  "POSTRIDER_STORE names a PostgreSQL database, which is backed up with pg_dump "
                  "(docs/guide/postgresql.md).");
    }
    options_.data_directory = choose_data(data_, environment);
    return Command{options_};
  }

 private:
  BackupOptions options_;
  std::optional<std::string> data_;
};

}  // namespace

std::unique_ptr<Subcommand> add_migrate(Syntax root) {
  return std::make_unique<MigrateArguments>(
      root.command("migrate", "Migrate the schema of a data directory or database"));
}

std::unique_ptr<Subcommand> add_backup(Syntax root) {
  return std::make_unique<BackupArguments>(
      root.command("backup", "Back up the store, even while the server runs"));
}

}  // namespace postrider::cli
