#include "core/filter/event_pattern.h"

#include <algorithm>

namespace postrider {
namespace {

constexpr std::string_view everything = "*";
constexpr std::string_view any_suffix = ".*";

// Unlike std::isalnum, independent of the locale.
constexpr bool is_type_character(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '-' ||
         character == '.';
}

}  // namespace

bool is_event_type(std::string_view text) {
  if (text.empty() || text.size() > event_type_length_max) {
    return false;
  }
  if (text.front() == '.' || text.back() == '.' || text.find("..") != std::string_view::npos) {
    return false;
  }
  return std::ranges::all_of(text, is_type_character);
}

std::optional<EventPattern> EventPattern::parse(std::string_view text) {
  if (text.size() > event_type_length_max) {
    return std::nullopt;
  }
  const std::string_view name =
      text.ends_with(any_suffix) ? text.substr(0, text.size() - any_suffix.size()) : text;
  if (text != everything && !is_event_type(name)) {
    return std::nullopt;
  }
  return EventPattern{text};
}

bool EventPattern::matches(std::string_view event_type) const {
  if (text_ == everything) {
    return true;
  }
  if (!text_.ends_with('*')) {
    return text_ == event_type;
  }
  // `swap.*` needs at least one character after `swap.`.
  const std::string_view prefix = std::string_view{text_}.substr(0, text_.size() - 1);
  return event_type.size() > prefix.size() && event_type.starts_with(prefix);
}

}  // namespace postrider
