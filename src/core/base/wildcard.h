// A text pattern in which `*` stands for any characters, none included; `\*` and `\\` stand for a
// star and a backslash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace postrider {

/// Matching looks for one part after the other and never goes back: its time is at most the length
/// of the pattern times that of the text.
class Wildcard {
 public:
  /// Refuses `**`, which would mean no more than `*`, and any other escape. The message is the end
  /// of a sentence that began with the pattern's name.
  [[nodiscard]] static Result<Wildcard> parse(std::string_view pattern);

  [[nodiscard]] bool matches(std::string_view text) const;

 private:
  Wildcard() = default;

  std::vector<std::string> parts_;  // What stands between the stars; without a star, one part.
};

}  // namespace postrider
