// The idempotency key of an API request that is not a publish.
#pragma once

#include <string>

#include "core/base/time.h"

namespace postrider {

/// Identifies a request that is performed at most once.
struct RequestKey {
  std::string caller;  // Keys of different callers are independent.
  std::string key;
  std::string digest;   // Of the whole request.
  WallTime expires_at;  // Exclusive.

  bool operator==(const RequestKey&) const = default;
};

}  // namespace postrider
