// `postrider copy`: moves a data directory into a PostgreSQL database. Main thread.
#pragma once

#include "cli/commands/store_options.h"

namespace postrider {

/// Returns the exit code: 2 if one of the stores cannot be used, 1 if the copy failed.
[[nodiscard]] int copy_data(const cli::CopyStoreOptions& options);

}  // namespace postrider
