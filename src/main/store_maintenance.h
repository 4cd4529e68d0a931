// `postrider migrate` and `postrider backup`. They open the store directly, which only main can do.
#pragma once

#include "cli/commands/store_options.h"

namespace postrider {

/// Both return the exit code: 2 if the data directory cannot be used.
[[nodiscard]] int migrate(const cli::MigrateOptions& options);
[[nodiscard]] int back_up(const cli::BackupOptions& options);

}  // namespace postrider
