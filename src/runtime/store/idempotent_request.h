// A request with an idempotency key is carried out once: its key is stored in the same transaction
// as what the request creates. Either both are stored or neither (P3).
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/store.h"

namespace postrider {

/// Call first in the transaction that creates `subject`. Fails with conflict if the key was used
/// before; then nothing is created. Without a key it does nothing.
[[nodiscard]] inline Result<void> take_request_key(Store& store,
                                                   const std::optional<RequestKey>& key,
                                                   const std::string& subject, WallTime now) {
  return key ? store.request_keys->take(*key, subject, now) : Result<void>{};
}

}  // namespace postrider
