// The cookie that holds a session, and the CSRF token that belongs to it. The text of a session is
// in the cookie only, never in a body or a URL.
#pragma once

#include <string>
#include <string_view>

#include "core/base/time.h"
#include "ports/crypto.h"

#include "api/http/http.h"
#include "api/resources/api_options.h"

namespace postrider::api {

struct SessionCookie {
  bool present = false;
  std::string_view text;  // Empty if there is more than one such cookie: the sender is ambiguous.
};

/// Reads all Cookie headers of the request, which must outlive the result. Other cookies are
/// ignored.
[[nodiscard]] SessionCookie read_session_cookie(const HttpRequest& request);

/// The value of a Set-Cookie header. The cookie ends after `life`; zero removes it.
[[nodiscard]] std::string write_session_cookie(const ApiOptions& options, std::string_view text,
                                               Millis life);

/// Derived from the text of the session, so that it needs no storage. It does not reveal the text.
[[nodiscard]] std::string csrf_token(const Crypto& crypto, std::string_view session_text);

}  // namespace postrider::api
