// The response side of HTTP/1.1 as text. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/time.h"

#include "api/http/http.h"

namespace postrider::api {

struct ResponseFraming {
  std::string_view request_id;  // Already known to be fit for a header.
  std::string_view date;        // `Date` as http_date() writes it; empty: no such header.
  bool close = false;           // Say that the connection ends after this.
  bool http_1_0 = false;        // The client must be told that it may go on.
  bool is_head = false;
};

/// Appends the response's head to `out`, blank line included. The body is the caller's to send,
/// when has_body(). Headers of the response that are framing's business, or that could break out of
/// their line, are left out. A streamed body is chunked, unless the client is older than that.
void write_head(const HttpResponse& response, const ResponseFraming& framing, std::string& out);

[[nodiscard]] bool has_body(const HttpResponse& response, const ResponseFraming& framing);

/// `Sun, 06 Nov 1994 08:49:37 GMT`.
[[nodiscard]] std::string http_date(WallTime time);

[[nodiscard]] std::string_view reason_phrase(std::uint16_t status);

}  // namespace postrider::api
