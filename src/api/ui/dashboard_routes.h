// Which requests the dashboard answers besides `/`.
#pragma once

#include "api/http/http.h"
#include "api/resources/api_options.h"

namespace postrider::api {

/// True for a file of the dashboard, and for a browser that opens one of its addresses: the
/// application shows what the path says. Such a path may be any that is not reserved.
[[nodiscard]] bool is_for_dashboard(const ApiOptions& options, const HttpRequest& request);

}  // namespace postrider::api
