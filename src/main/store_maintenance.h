// `postrider migrate` and `postrider backup`: they need the store itself, which only main knows.
#pragma once

#include "cli/commands/store_options.h"

namespace postrider {

/// Both return the exit code: 2 when the data directory cannot be used.
[[nodiscard]] int migrate(const cli::MigrateOptions& options);
[[nodiscard]] int back_up(const cli::BackupOptions& options);

}  // namespace postrider
