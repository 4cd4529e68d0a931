#include "cli/commands/group.h"

#include <fmt/format.h>

#include "cli/commands/command_line.h"
#include "cli/text/print.h"

namespace postrider::cli {

ApiCommand::ApiCommand(Syntax syntax, Run run) : run_(std::move(run)) {
  connection_.add_to(syntax);
}

Result<Command> ApiCommand::finish(const Environment& environment) {
  POSTRIDER_TRY(Connection connection, connection_.finish(environment));
  const auto run = [connection = std::move(connection), run = run_](const Ports& ports) {
    return report(run(Session{connection, ports}));
  };
  return Command{Task{run}};
}

Group::Group(Syntax root, const std::string& name, const std::string& description)
    : syntax_(root.command(name, description)) {}

Syntax Group::add(const std::string& name, const std::string& description, Run run) {
  const Syntax leaf = syntax_.command(name, description);
  add(leaf, std::make_unique<ApiCommand>(leaf, std::move(run)));
  return leaf;
}

void Group::add(Syntax syntax, std::unique_ptr<Subcommand> command) {
  commands_.emplace_back(syntax, std::move(command));
}

Result<Command> Group::finish(const Environment& environment) {
  std::string names;
  for (const auto& [syntax, command] : commands_) {
    if (syntax.chosen()) {
      return command->finish(environment);
    }
    names += (names.empty() ? "" : ", ") + syntax.name();
  }
  return fail(Errc::invalid, fmt::format("`{}` requires a subcommand: {}.", syntax_.name(), names));
}

int report(const Result<void>& done) {
  if (done) {
    return exit_ok;
  }
  print_error(fmt::format("postrider: {}\n", done.error().message));
  return done.error().code == Errc::invalid ? exit_usage : exit_failed;
}

}  // namespace postrider::cli
