// Restricts a list or an operation to certain event types. The restriction is a list of words; each
// word is the name of an event type or a pattern (core/filter/event_pattern.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postrider {

/// For error messages: what the words must be.
constexpr std::string_view event_type_words =
    "names of event types (order.created) or patterns (order.*, *)";

/// Returns the word itself if it is a name or a pattern, otherwise nullopt.
[[nodiscard]] std::optional<std::string> parse_event_type_word(std::string_view text);

/// True if any word matches, or if there are no words. An invalid word matches nothing.
[[nodiscard]] bool admits_type(const std::vector<std::string>& words, std::string_view event_type);

/// The words grouped by kind, for a store that looks them up in an index.
struct EventTypeFilter {
  bool everything = true;
  std::vector<std::string> names;
  std::vector<std::string> prefixes;  // Including the dot: `order.`.
};
[[nodiscard]] EventTypeFilter sort_event_type_words(const std::vector<std::string>& words);

}  // namespace postrider
