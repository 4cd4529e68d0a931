// What a browser's request headers ask for (RFC 9110). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/http/http.h"

namespace postrider::api {

enum class Coding : std::uint8_t { identity, gzip, brotli };

/// Which codings of a file exist besides identity.
struct Codings {
  bool gzip = false;
  bool brotli = false;
};

/// The coding with the highest weight in Accept-Encoding; among equals brotli, then gzip. Without
/// that header, and if nothing else is acceptable: identity.
[[nodiscard]] Coding choose_coding(std::optional<std::string_view> accept_encoding,
                                   Codings available);

/// Whether a browser asks for a page to show: GET or HEAD, an Accept that allows HTML, and not a
/// request of a page for its parts. A client without Accept is a program, not a browser.
[[nodiscard]] bool is_navigation(const HttpRequest& request);

/// Whether If-None-Match contains `etag`, which includes its quotes.
[[nodiscard]] bool matches_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace postrider::api
