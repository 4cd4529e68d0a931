#include "cli/group.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "cli/command_line.h"
#include "cli/print.h"

namespace postrider::cli {

ApiLeaf::ApiLeaf(CLI::App& app, Run run) : run_(std::move(run)) { connection_.add_to(app); }

Result<Command> ApiLeaf::finish(const Environment& environment) {
  POSTRIDER_TRY(Connection connection, connection_.finish(environment));
  const auto run = [session = Session{std::move(connection)}, run = run_] {
    return report(run(session));
  };
  return Command{Task{run}};
}

Group::Group(CLI::App& root, const std::string& name, const std::string& description)
    : app_(root.add_subcommand(name, description)) {
  app_->require_subcommand(0, 1);  // finish() says it better when there is none.
}

CLI::App& Group::add(const std::string& name, const std::string& description, Run run) {
  CLI::App& leaf = *app_->add_subcommand(name, description);
  add(leaf, std::make_unique<ApiLeaf>(leaf, std::move(run)));
  return leaf;
}

void Group::add(CLI::App& app, std::unique_ptr<Subcommand> command) {
  app.group("Commands");
  commands_.emplace_back(&app, std::move(command));
}

Result<Command> Group::finish(const Environment& environment) {
  std::string names;
  for (const auto& [app, command] : commands_) {
    if (app->parsed()) {
      return command->finish(environment);
    }
    names += (names.empty() ? "" : ", ") + app->get_name();
  }
  return fail(Errc::invalid, fmt::format("`{}` needs one of: {}.", app_->get_name(), names));
}

int report(const Result<void>& done) {
  if (done) {
    return exit_ok;
  }
  print_error(fmt::format("postrider: {}\n", done.error().message));
  return done.error().code == Errc::invalid ? exit_usage : exit_failed;
}

}  // namespace postrider::cli
