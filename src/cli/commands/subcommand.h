// One subcommand's flags: declared, then checked and turned into options.
#pragma once

#include <memory>

#include "core/base/result.h"

#include "cli/commands/arguments.h"
#include "cli/commands/syntax.h"

namespace postrider::cli {

/// Owned by parse_arguments for one parse, which writes into it.
class Subcommand {
 public:
  virtual ~Subcommand() = default;

  /// Called after a successful parse that chose this subcommand. Errc::invalid is a usage error.
  [[nodiscard]] virtual Result<Command> finish(const Environment& environment) = 0;
};

[[nodiscard]] std::unique_ptr<Subcommand> add_serve(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_listen(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_send(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_webhooks(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_events(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_deliveries(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_dlq(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_operations(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_replay(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_verify(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_keys(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_doctor(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_migrate(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_backup(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_archive(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_completion(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_version(Syntax root);

}  // namespace postrider::cli
