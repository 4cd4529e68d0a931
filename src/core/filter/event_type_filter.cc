#include "core/filter/event_type_filter.h"

#include <algorithm>

#include "core/filter/event_pattern.h"

namespace postrider {
namespace {

bool admits(const std::string& word, std::string_view event_type) {
  const std::optional<EventPattern> pattern = EventPattern::parse(word);
  return pattern && pattern->matches(event_type);
}

}  // namespace

std::optional<std::string> parse_event_type_word(std::string_view text) {
  const std::optional<EventPattern> pattern = EventPattern::parse(text);
  return pattern ? std::optional{pattern->text()} : std::nullopt;
}

bool admits_type(const std::vector<std::string>& words, std::string_view event_type) {
  return words.empty() || std::ranges::any_of(words, [event_type](const std::string& word) {
           return admits(word, event_type);
         });
}

EventTypeFilter sort_event_type_words(const std::vector<std::string>& words) {
  EventTypeFilter filter{.everything = words.empty(), .names = {}, .prefixes = {}};
  for (const std::string& word : words) {
    if (!EventPattern::parse(word)) {
      continue;
    }
    if (word == "*") {
      filter.everything = true;
    } else if (word.ends_with('*')) {
      filter.prefixes.push_back(word.substr(0, word.size() - 1));
    } else {
      filter.names.push_back(word);
    }
  }
  return filter;
}

}  // namespace postrider
