#include "api/resources/session_cookie.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/base/trim.h"
#include "core/request/signature.h"

namespace postrider::api {
namespace {

constexpr std::string_view cookie_name = "postrider_session";

/// Adds the session cookies of one header to `found`.
void read_header(std::string_view header, SessionCookie& found) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    const std::string_view pair = trim(header.substr(0, end));
    header.remove_prefix(std::min(end + 1, header.size()));
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals) != cookie_name) {
      continue;
    }
    const bool is_first = !found.present;
    const bool has_value = equals != std::string_view::npos;
    found = {.present = true,
             .text = is_first && has_value ? pair.substr(equals + 1) : std::string_view{}};
  }
}

}  // namespace

SessionCookie read_session_cookie(const HttpRequest& request) {
  SessionCookie found;
  for (const auto& [name, value] : request.headers) {
    if (name == "cookie") {
      read_header(value, found);
    }
  }
  return found;
}

std::string write_session_cookie(const ApiOptions& options, std::string_view text, Millis life) {
  const bool is_secure = options.tls || options.public_url.starts_with("https://");
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}", cookie_name, text,
                     std::chrono::ceil<std::chrono::seconds>(life).count(),
                     is_secure ? "; Secure" : "");
}

std::string csrf_token(const Crypto& crypto, std::string_view session_text) {
  return to_hex(crypto.sha256(fmt::format("postrider csrf token\n{}", session_text)));
}

}  // namespace postrider::api
