#include "core/base/text_search.h"

#include <vector>

namespace postrider {
namespace {

// Up to this length, comparing the needle everywhere is faster than preparing it.
constexpr std::size_t short_needle = 16;

/// For each prefix of the needle, the length of the longest shorter prefix that it ends with: where
/// the search of Knuth, Morris and Pratt continues after a mismatch.
std::vector<std::size_t> borders_of(std::string_view needle) {
  std::vector<std::size_t> borders(needle.size(), 0);
  std::size_t matched = 0;
  for (std::size_t at = 1; at < needle.size(); ++at) {
    while (matched > 0 && needle[at] != needle[matched]) {
      matched = borders[matched - 1];
    }
    matched += needle[at] == needle[matched] ? 1 : 0;
    borders[at] = matched;
  }
  return borders;
}

}  // namespace

std::size_t find_text(std::string_view text, std::string_view needle) {
  if (needle.size() <= short_needle || needle.size() > text.size()) {
    return text.find(needle);
  }
  const std::vector<std::size_t> borders = borders_of(needle);
  std::size_t matched = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    while (matched > 0 && text[at] != needle[matched]) {
      matched = borders[matched - 1];
    }
    matched += text[at] == needle[matched] ? 1 : 0;
    if (matched == needle.size()) {
      return at + 1 - needle.size();
    }
  }
  return std::string_view::npos;
}

}  // namespace postrider
