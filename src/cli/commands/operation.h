// Work that the server does after it has answered: started, watched, reported.
#pragma once

#include <string>

#include "core/base/result.h"

#include "cli/client/session.h"

namespace postrider::cli {

struct OperationOptions {
  std::string label;  // Beside the progress bar.
  bool wait = true;   // False: only start it.
};

/// Makes the call, which answers with an operation, and watches that until its end. Prints the
/// operation's last state. Fails when the operation fails or is cancelled.
[[nodiscard]] Result<void> run_operation(const Session& session, const Call& call,
                                         const OperationOptions& options);

}  // namespace postrider::cli
