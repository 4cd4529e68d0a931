// One subcommand's flags: declared to CLI11, then checked and turned into options.
#pragma once

#include <memory>

#include <CLI/App.hpp>

#include "core/result.h"

#include "cli/arguments.h"

namespace postrider::cli {

/// Owned by parse_arguments for one parse; CLI11 writes into it.
class Subcommand {
 public:
  virtual ~Subcommand() = default;

  /// Called after a successful parse that chose this subcommand. Errc::invalid is a usage error.
  [[nodiscard]] virtual Result<Command> finish(const Environment& environment) = 0;
};

[[nodiscard]] std::unique_ptr<Subcommand> add_serve(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_listen(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_send(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_webhooks(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_events(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_deliveries(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_dlq(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_operations(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_replay(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_verify(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_keys(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_doctor(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_migrate(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_backup(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_archive(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_completion(CLI::App& app);
[[nodiscard]] std::unique_ptr<Subcommand> add_version(CLI::App& app);

}  // namespace postrider::cli
