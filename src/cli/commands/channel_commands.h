// The subcommands of `postrider channels` that change a channel.
#pragma once

#include "cli/commands/group.h"

namespace postrider::cli {

void add_channel_create(Group& group);
void add_channel_update(Group& group);

}  // namespace postrider::cli
