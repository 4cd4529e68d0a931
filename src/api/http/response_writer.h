// Writes the head of an HTTP/1.1 response. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/time.h"

#include "api/http/http.h"

namespace postrider::api {

struct ResponseFraming {
  std::string_view request_id;  // Must be valid in a header. If empty, the header is omitted.
  std::string_view date;        // From http_date(). If empty, the header is omitted.
  bool close = false;           // Adds `Connection: close`.
  bool http_1_0 = false;        // Adds `Connection: keep-alive` unless `close`.
  bool is_head = false;
};

/// Appends the head of the response to `out`, including the blank line. The caller sends the body
/// if has_body(). Omits headers in `response.headers` that belong to the framing or that contain
/// control characters. A streamed body is chunked, except for HTTP/1.0.
void write_head(const HttpResponse& response, const ResponseFraming& framing, std::string& out);

[[nodiscard]] bool has_body(const HttpResponse& response, const ResponseFraming& framing);

/// `Sun, 06 Nov 1994 08:49:37 GMT`.
[[nodiscard]] std::string http_date(WallTime time);

[[nodiscard]] std::string_view reason_phrase(std::uint16_t status);

}  // namespace postrider::api
