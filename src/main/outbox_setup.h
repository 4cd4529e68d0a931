// `postrider outbox init`. It needs a database, which only main can open.
#pragma once

#include "cli/commands/outbox_options.h"

namespace postrider {

/// Returns the exit code: 2 if an option or the database's state is wrong, 1 if the database cannot
/// be reached.
[[nodiscard]] int init_outbox(const cli::OutboxInitOptions& options);

}  // namespace postrider
