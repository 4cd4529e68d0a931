// A refusal of the server as one sentence and what to do next. Pure.
#pragma once

#include "core/base/result.h"

#include "cli/client/http_client.h"

namespace postrider::cli {

/// `response` has another status than 2xx. not_found for 404, unavailable for 429 and 5xx, conflict
/// for the rest.
[[nodiscard]] Error to_error(const ClientResponse& response);

}  // namespace postrider::cli
