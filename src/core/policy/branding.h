// What a title, a logo and a colour of the dashboard may be. They come from settings and from
// links.
#pragma once

#include <cstddef>
#include <string_view>

namespace postrider {

constexpr std::size_t branding_title_max = 100;  // Characters.
constexpr std::size_t logo_url_max = 2048;
constexpr std::size_t color_length = 7;

/// UTF-8 without control characters.
[[nodiscard]] bool is_branding_title(std::string_view text);

/// An https URL or a path on this server, without characters that have a meaning in HTML, CSS or a
/// Content-Security-Policy.
[[nodiscard]] bool is_logo_url(std::string_view text);

/// `#rrggbb`
[[nodiscard]] bool is_color(std::string_view text);

// Complete the error message "…".
constexpr std::string_view branding_title_rule =
    "must be 1 to 100 characters without control characters";
constexpr std::string_view logo_url_rule =
    "must be an https URL or a path on this server that begins with `/`";
constexpr std::string_view color_rule = "must be a colour such as #1a73e8";

}  // namespace postrider
