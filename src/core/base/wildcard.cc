#include "core/base/wildcard.h"

#include <utility>

#include "core/base/text_search.h"

namespace postrider {

Result<Wildcard> Wildcard::parse(std::string_view pattern) {
  Wildcard wildcard;
  std::string part;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '*') {
      if (part.empty() && at > 0) {
        return fail(Errc::invalid, "must not contain two adjacent stars. Use a single star.");
      }
      wildcard.parts_.push_back(std::exchange(part, {}));
      continue;
    }
    if (pattern[at] == '\\') {
      ++at;
      if (at == pattern.size() || (pattern[at] != '*' && pattern[at] != '\\')) {
        return fail(Errc::invalid, "may use a backslash only to escape `*` or `\\`.");
      }
    }
    part += pattern[at];
  }
  wildcard.parts_.push_back(std::move(part));
  return wildcard;
}

bool Wildcard::matches(std::string_view text) const {
  const std::string& head = parts_.front();
  if (parts_.size() == 1) {
    return text == head;
  }
  const std::string& tail = parts_.back();
  if (text.size() < head.size() + tail.size() || !text.starts_with(head) || !text.ends_with(tail)) {
    return false;
  }
  text.remove_prefix(head.size());
  text.remove_suffix(tail.size());
  for (std::size_t index = 1; index + 1 < parts_.size(); ++index) {
    // The leftmost match leaves the most text for the remaining parts.
    const std::size_t found = find_text(text, parts_[index]);
    if (found == std::string_view::npos) {
      return false;
    }
    text.remove_prefix(found + parts_[index].size());
  }
  return true;
}

}  // namespace postrider
