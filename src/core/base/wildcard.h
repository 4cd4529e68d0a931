// A text pattern in which `*` matches zero or more characters. `\*` and `\\` match a literal star
// and backslash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace postrider {

/// Matching never backtracks: it takes at most the length of the pattern times the length of the
/// text.
class Wildcard {
 public:
  /// Rejects `**`, which means the same as `*`, and unknown escapes. The error message is the end
  /// of a sentence that starts with the pattern's name.
  [[nodiscard]] static Result<Wildcard> parse(std::string_view pattern);

  [[nodiscard]] bool matches(std::string_view text) const;

  /// The text between the stars. Without a star, one part.
  [[nodiscard]] const std::vector<std::string>& parts() const { return parts_; }

 private:
  Wildcard() = default;

  std::vector<std::string> parts_;
};

}  // namespace postrider
