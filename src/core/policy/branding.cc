#include "core/policy/branding.h"

#include <algorithm>

namespace postrider {

bool is_branding_title(std::string_view text) {
  const auto is_control = [](char character) {
    const auto code = static_cast<unsigned char>(character);
    return code < 0x20 || code == 0x7f;
  };
  const auto starts_character = [](char character) {
    return (static_cast<unsigned char>(character) & 0xc0) != 0x80;
  };
  const auto length = static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
  return length >= 1 && length <= branding_title_max && !std::ranges::any_of(text, is_control);
}

bool is_logo_url(std::string_view text) {
  constexpr std::string_view scheme = "https://";
  const auto is_allowed = [](char character) {
    return 0x21 <= character && character <= 0x7e &&
           std::string_view{"\"'<>\\^`{|},;()"}.find(character) == std::string_view::npos;
  };
  if (text.size() > logo_url_max || !std::ranges::all_of(text, is_allowed)) {
    return false;
  }
  if (text.starts_with('/')) {
    return !text.starts_with("//");  // That would be another host.
  }
  return text.starts_with(scheme) && text.size() > scheme.size() && text[scheme.size()] != '/';
}

bool is_color(std::string_view text) {
  const auto is_digit = [](char character) {
    return ('0' <= character && character <= '9') || ('a' <= character && character <= 'f') ||
           ('A' <= character && character <= 'F');
  };
  return text.size() == color_length && text.front() == '#' &&
         std::ranges::all_of(text.substr(1), is_digit);
}

}  // namespace postrider
