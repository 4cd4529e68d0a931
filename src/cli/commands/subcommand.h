// The flags of a subcommand: declared, parsed, then checked and turned into a command.
#pragma once

#include <memory>

#include "core/base/result.h"

#include "cli/commands/arguments.h"
#include "cli/commands/syntax.h"

namespace postrider::cli {

/// Owned by parse_arguments. The parse writes into it.
class Subcommand {
 public:
  virtual ~Subcommand() = default;

  /// Called after a successful parse if this subcommand was chosen. Fails with invalid on a usage
  /// error.
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
[[nodiscard]] std::unique_ptr<Subcommand> add_sources(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_nodes(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_channels(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_replay(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_verify(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_keys(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_doctor(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_migrate(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_backup(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_copy(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_outbox(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_archive(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_completion(Syntax root);
[[nodiscard]] std::unique_ptr<Subcommand> add_version(Syntax root);

}  // namespace postrider::cli
