#include "core/model/email_address.h"

#include <algorithm>

namespace postrider {
namespace {

// A local part may contain these in quotes only, or they separate addresses.
constexpr std::string_view forbidden = "\"(),:;<>@[\\]";

bool is_local_part(std::string_view text) {
  const bool has_dots_inside = text.find("..") == std::string_view::npos && !text.empty() &&
                               text.front() != '.' && text.back() != '.';
  return has_dots_inside && text.size() <= 64 && std::ranges::all_of(text, [](char each) {
           return each > ' ' && each < 0x7f && forbidden.find(each) == std::string_view::npos;
         });
}

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
         std::ranges::all_of(text, [](char each) {
           return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                  (each >= '0' && each <= '9') || each == '-';
         });
}

bool is_domain(std::string_view text) {
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    if (!is_label(text.substr(0, dot))) {
      return false;
    }
    text.remove_prefix(dot + 1);
  }
  return is_label(text);
}

}  // namespace

bool is_email_address(std::string_view text) {
  const std::size_t at = text.find('@');
  return at != std::string_view::npos && text.size() <= email_address_bytes_max &&
         is_local_part(text.substr(0, at)) && is_domain(text.substr(at + 1));
}

}  // namespace postrider
