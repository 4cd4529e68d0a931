// Starts an operation on the server, waits for its end and reports the result.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

#include "cli/client/session.h"

namespace postrider::cli {

enum class Wait : std::uint8_t {
  no,        // Only start the operation.
  requeued,  // Until everything is requeued.
  settled,   // Until the operation ends.
};

struct OperationOptions {
  std::string label;  // The label of the progress bar.
  Wait wait = Wait::settled;
};

constexpr const char* no_outcome_help =
    "Wait only until everything is queued again, not for the outcome of the deliveries";

/// What the flags --no-wait and --no-outcome ask for.
[[nodiscard]] constexpr Wait wait_of(bool no_wait, bool no_outcome) {
  return no_wait ? Wait::no : no_outcome ? Wait::requeued : Wait::settled;
}

/// Makes the call, which returns an operation, and polls the operation as long as asked. Prints its
/// last state. Fails if the operation fails or is cancelled.
[[nodiscard]] Result<void> run_operation(const Session& session, const Call& call,
                                         const OperationOptions& options);

}  // namespace postrider::cli
