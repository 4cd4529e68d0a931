// Turns an error response of the server into a message with advice. Pure.
#pragma once

#include "core/base/result.h"

#include "cli/client/http_client.h"

namespace postrider::cli {

/// The status of `response` must not be 2xx. Returns not_found for 404, unavailable for 429 and
/// 5xx, conflict for all others.
[[nodiscard]] Error to_error(const ClientResponse& response);

}  // namespace postrider::cli
