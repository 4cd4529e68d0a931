// The subcommands of `postrider webhooks` with many flags.
#pragma once

#include "cli/commands/group.h"

namespace postrider::cli {

void add_webhook_create(Group& group);
void add_webhook_update(Group& group);
void add_webhook_rotate(Group& group);
void add_webhook_test(Group& group);
void add_webhook_circuit(Group& group);

}  // namespace postrider::cli
