// The two kinds of most commands: a group (`webhooks`) and a command that calls a server
// (`webhooks list`).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/session.h"
#include "cli/commands/connection_arguments.h"
#include "cli/commands/subcommand.h"
#include "cli/commands/syntax.h"

namespace postrider::cli {

/// Runs a command. Errc::invalid means a wrong command line (exit code 2), any other error a
/// failure (exit code 1).
using Run = std::function<Result<void>(const Session& session)>;

/// A command that calls a server. `run` captures its flags.
class ApiCommand final : public Subcommand {
 public:
  ApiCommand(Syntax syntax, Run run);

  Result<Command> finish(const Environment& environment) override;

 private:
  ConnectionArguments connection_;
  Run run_;
};

/// A command that only has subcommands.
class Group final : public Subcommand {
 public:
  Group(Syntax root, const std::string& name, const std::string& description);

  /// Adds a command that calls a server. Returns its syntax, to declare its flags.
  Syntax add(const std::string& name, const std::string& description, Run run);
  /// Adds any other command.
  void add(Syntax syntax, std::unique_ptr<Subcommand> command);

  [[nodiscard]] Syntax syntax() const { return syntax_; }

  Result<Command> finish(const Environment& environment) override;

 private:
  Syntax syntax_;
  std::vector<std::pair<Syntax, std::unique_ptr<Subcommand>>> commands_;
};

/// Prints the error, if any, and returns the exit code.
[[nodiscard]] int report(const Result<void>& done);

}  // namespace postrider::cli
