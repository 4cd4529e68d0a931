// Keeps rejected entries aside in a stream of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

#include "adapters/redis/connection.h"

namespace postrider::redis {

struct RejectedEntry {
  std::string_view id;
  std::string_view reason;
  bool has_fields = true;  // false: the entry is too large to be copied.
};

/// Appends an entry to the stream `parking` for each rejected entry of `stream`: `rejected_reason`,
/// `rejected_id`, and the fields of the original. Returns once Redis has accepted all of them.
/// Fails with unavailable; a part may have been accepted.
[[nodiscard]] Result<void> park_entries(Connection& connection, std::string_view stream,
                                        std::string_view parking,
                                        const std::vector<RejectedEntry>& rejected);

}  // namespace postrider::redis
