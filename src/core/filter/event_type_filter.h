// The event types that a list or an operation is restricted to: words, each a name or a pattern as
// in core/filter/event_pattern.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postrider {

/// What a word must be, to be said when it is not.
constexpr std::string_view event_type_words =
    "names of event types (order.created) or patterns (order.*, *)";

/// The word itself when it is a name or a pattern.
[[nodiscard]] std::optional<std::string> parse_event_type_word(std::string_view text);

/// No words do not restrict. A word that is neither a name nor a pattern admits nothing.
[[nodiscard]] bool admits_type(const std::vector<std::string>& words, std::string_view event_type);

/// The words by kind, for a store that looks them up.
struct EventTypeFilter {
  bool everything = true;
  std::vector<std::string> names;
  std::vector<std::string> prefixes;  // With the dot: `order.`.
};
[[nodiscard]] EventTypeFilter sort_event_type_words(const std::vector<std::string>& words);

}  // namespace postrider
