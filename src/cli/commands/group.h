// The two shapes of most commands: a group (`webhooks`) and a leaf that talks to a server
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

/// What a leaf does. Errc::invalid is a mistake in the command line (exit code 2), everything else
/// a failure (1).
using Run = std::function<Result<void>(const Session& session)>;

/// A command that runs against a server. Its own flags live in what `run` captures.
class ApiLeaf final : public Subcommand {
 public:
  ApiLeaf(Syntax syntax, Run run);

  Result<Command> finish(const Environment& environment) override;

 private:
  ConnectionArguments connection_;
  Run run_;
};

/// A command that only leads to others.
class Group final : public Subcommand {
 public:
  Group(Syntax root, const std::string& name, const std::string& description);

  /// A leaf that talks to a server; returned for its flags.
  Syntax add(const std::string& name, const std::string& description, Run run);
  /// Any other.
  void add(Syntax syntax, std::unique_ptr<Subcommand> command);

  [[nodiscard]] Syntax syntax() const { return syntax_; }

  Result<Command> finish(const Environment& environment) override;

 private:
  Syntax syntax_;
  std::vector<std::pair<Syntax, std::unique_ptr<Subcommand>>> commands_;
};

/// Prints what went wrong, if anything did, and returns the exit code.
[[nodiscard]] int report(const Result<void>& done);

}  // namespace postrider::cli
