// `postrider outbox init`: the tables of an outbox in the application's database.
#include <memory>

#include "cli/commands/group.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider outbox init > outbox.sql
      Prints the SQL that makes the table webhook_outbox, to be run as a migration.
  postrider outbox init --dsn postgres://app:secret@db.example/app --apply
      Makes it. Needs no superuser. Can be run again.
  postrider outbox init --columns debezium --table app.outbox
      Uses the columns of Debezium: id, aggregatetype, aggregateid, type, payload.
  postrider outbox init --mode status
      Makes a table in which the application reads the status of each row.)";

class OutboxInitArguments final : public Subcommand {
 public:
  explicit OutboxInitArguments(Syntax syntax) {
    syntax.option("--dsn ADDRESS", dsn_, "Address of the database; needed with --apply");
    syntax.option("--table NAME", options_.table, "Name of the table, also with its schema")
        .show_default();
    syntax.option("--mode MODE", options_.mode, "How the table is read: cursor or status")
        .one_of({"cursor", "status"})
        .show_default();
    syntax.option("--columns SET", options_.columns, "Names of the columns: native or debezium")
        .one_of({"native", "debezium"})
        .show_default();
    syntax.flag("--apply", options_.apply, "Run the SQL in the database instead of printing it");
    syntax.flag("--json", options_.json, "Print JSON");
  }

  Result<Command> finish(const Environment&) override {
    if (options_.apply && dsn_.empty()) {
      return fail(Errc::invalid, "--apply requires --dsn.");
    }
    options_.dsn = Secret{dsn_};
    return Command{options_};
  }

 private:
  OutboxInitOptions options_;
  std::string dsn_;
};

}  // namespace

std::unique_ptr<Subcommand> add_outbox(Syntax root) {
  auto group = std::make_unique<Group>(root, "outbox", "Prepare a database as a source of events");
  group->syntax().footer(examples);
  const Syntax syntax =
      group->syntax().command("init", "Print or apply the SQL that makes an outbox");
  group->add(syntax, std::make_unique<OutboxInitArguments>(syntax));
  return group;
}

}  // namespace postrider::cli
