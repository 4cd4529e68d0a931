// The flags of `postrider migrate` and `postrider backup`.
#include "cli/commands/subcommand.h"

namespace postrider::cli {
namespace {

constexpr const char* migrate_examples = R"(Examples:
  postrider migrate --data /var/lib/postrider --check
      Says whether the schema is up to date; exit code 1 when it is not.
  postrider migrate --data /var/lib/postrider
      Brings it up to date. The server must be stopped; it would do the same when it starts.)";

constexpr const char* backup_examples = R"(Examples:
  postrider backup --data /var/lib/postrider --to /backup/postrider-$(date +%F).db
      A consistent copy, whether the server runs or not. To restore: stop the server, put the
      copy in place of postrider.db, remove postrider.db-wal and postrider.db-shm, start.)";

constexpr const char* default_data = "./postrider-data";

void add_data(Syntax syntax, std::optional<std::string>& data) {
  syntax.option("--data DIR", data, "The data directory; else POSTRIDER_DATA")
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
    syntax.flag("--check", options_.check, "Change nothing; exit code 1 when there is work");
    syntax.flag("--json", options_.json, "Print JSON");
  }

  Result<Command> finish(const Environment& environment) override {
    options_.data_directory = choose_data(data_, environment);
    return Command{options_};
  }

 private:
  MigrateOptions options_;
  std::optional<std::string> data_;
};

class BackupArguments final : public Subcommand {
 public:
  explicit BackupArguments(Syntax syntax) {
    syntax.footer(backup_examples);
    add_data(syntax, data_);
    syntax.option("--to FILE", options_.to, "The file to write").required();
    syntax.flag("--force", options_.force, "Replace the file when it is there");
    syntax.flag("--json", options_.json, "Print JSON");
  }

  Result<Command> finish(const Environment& environment) override {
    if (options_.to.empty()) {
      return fail(Errc::invalid, "--to needs the name of a file.");
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
      root.command("migrate", "Bring a data directory's schema up to date"));
}

std::unique_ptr<Subcommand> add_backup(Syntax root) {
  return std::make_unique<BackupArguments>(
      root.command("backup", "Copy a data directory's store, also while it is in use"));
}

}  // namespace postrider::cli
