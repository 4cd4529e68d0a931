// Explains error replies of Redis to the operator.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

#include "adapters/redis/reply.h"

namespace postrider::redis {

/// A sentence. `key`: the key of the command, for errors that concern it.
[[nodiscard]] std::string explain_error(const Reply& error, std::string_view key);

/// Returns the reply unless it is an error. Fails with unavailable.
[[nodiscard]] Result<Reply> expect_success(Reply reply, std::string_view key);

}  // namespace postrider::redis
