// The OpenAPI 3.1 document of the HTTP API, assembled from one fragment per resource.
// tests/e2e/test_openapi.py checks that the server follows it.
#pragma once

#include <string>

namespace postrider::api {

/// Assembled at the first call and constant afterwards. Any thread.
[[nodiscard]] const std::string& openapi_document();

}  // namespace postrider::api
