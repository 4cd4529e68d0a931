// Subcommands with options of their own. Each runs to its end and returns the exit code.
#pragma once

#include "cli/commands/arguments.h"

namespace postrider::cli {

/// Runs until SIGINT, SIGTERM or `count` webhooks. Returns 1 if a signature was invalid or the
/// address is in use.
[[nodiscard]] int run_listen(const ListenOptions& options, const Ports& ports);

/// Returns 1 if the server cannot be reached or refuses the event.
[[nodiscard]] int run_send(const SendOptions& options);

[[nodiscard]] int run_version(const VersionOptions& options);

}  // namespace postrider::cli
