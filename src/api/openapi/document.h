// The machine-readable contract of the HTTP API: OpenAPI 3.1, put together from one fragment per
// resource. tests/e2e/test_openapi.py holds the server to it.
#pragma once

#include <string>

namespace postrider::api {

/// Made at the first call, the same bytes for ever after. Any thread.
[[nodiscard]] const std::string& openapi_document();

}  // namespace postrider::api
