#include "api/resources/same_origin.h"

#include "core/net/header_rules.h"

namespace postrider::api {
namespace {

/// `host:port` of a URL or an origin. Empty if there is none.
std::string_view authority_of(std::string_view url) {
  constexpr std::string_view separator = "://";
  const std::size_t scheme = url.find(separator);
  if (scheme == std::string_view::npos) {
    return {};
  }
  url.remove_prefix(scheme + separator.size());
  return url.substr(0, url.find('/'));
}

bool is_own(std::string_view origin, const ApiOptions& options, const HttpRequest& request) {
  const std::string_view authority = authority_of(origin);
  return !authority.empty() && (same_header(authority, request.header("host").value_or("")) ||
                                same_header(authority, authority_of(options.public_url)));
}

}  // namespace

Parsed<void> check_same_origin(const ApiOptions& options, const HttpRequest& request) {
  const std::optional<std::string_view> site = request.header("sec-fetch-site");
  const std::optional<std::string_view> origin = request.header("origin");
  const bool is_same = site ? *site == "same-origin" || *site == "none"
                            : !origin || is_own(*origin, options, request);
  if (is_same) {
    return {};
  }
  return tl::make_unexpected(
      Problem{.status = 403,
              .code = "cross_site_request",
              .title = "The request comes from another site",
              .detail = "Sign in on this server's own page. If a proxy changes the Host header, "
                        "set `public_url`.",
              .errors = {}});
}

}  // namespace postrider::api
