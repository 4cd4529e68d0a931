// Lists that are stored as one text, one item per line. No item contains a line break.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace postrider::stored {

[[nodiscard]] inline std::string join_lines(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text.append(text.empty() ? "" : "\n").append(item);
  }
  return text;
}

/// An empty text has no items.
[[nodiscard]] inline std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    items.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

}  // namespace postrider::stored
