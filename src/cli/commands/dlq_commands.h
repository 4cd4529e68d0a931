// The subcommands of `postrider dlq` that start an operation on many dead letters.
#pragma once

#include "cli/commands/group.h"
#include "cli/commands/query_flags.h"

namespace postrider::cli {

void add_dlq_retry_batch(Group& group);
void add_dlq_discard(Group& group);

/// Adds all filters for dead letters.
void add_dead_letter_flags(Syntax syntax, QueryFlags& flags);

}  // namespace postrider::cli
