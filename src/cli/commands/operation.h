// Starts an operation on the server, waits for its end and reports the result.
#pragma once

#include <string>

#include "core/base/result.h"

#include "cli/client/session.h"

namespace postrider::cli {

struct OperationOptions {
  std::string label;  // The label of the progress bar.
  bool wait = true;   // False: only start the operation.
};

/// Makes the call, which returns an operation, and polls the operation until it ends. Prints its
/// last state. Fails if the operation fails or is cancelled.
[[nodiscard]] Result<void> run_operation(const Session& session, const Call& call,
                                         const OperationOptions& options);

}  // namespace postrider::cli
