// The subcommands that need nothing but this program: each runs to its end and returns the exit
// code.
#pragma once

#include "cli/commands/arguments.h"

namespace postrider::cli {

/// Until SIGINT, SIGTERM or `count`. 1 when a signature was not right or the address is taken.
[[nodiscard]] int run_listen(const ListenOptions& options);

/// 1 when the server cannot be reached or refuses.
[[nodiscard]] int run_send(const SendOptions& options);

[[nodiscard]] int run_version(const VersionOptions& options);

}  // namespace postrider::cli
