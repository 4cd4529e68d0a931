// Regular expressions, matched by RE2: in time proportional to the text and with limited memory.
// No other module uses RE2.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace postrider::json_schema {

constexpr std::size_t regex_bytes_max = 512;
constexpr std::uint64_t regex_size_max = 4'000;

/// Immutable. Any thread.
class Regex {
 public:
  /// The error message is the end of a sentence that begins with the pattern.
  [[nodiscard]] static Result<std::unique_ptr<const Regex>> compile(std::string_view pattern);

  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  /// The number of RE2's instructions, at most regex_size_max.
  [[nodiscard]] std::uint64_t size() const { return size_; }

  struct Search {
    bool found;
    std::uint64_t steps;  // What it took.
  };
  /// Finds a match anywhere in the text, which must be UTF-8.
  [[nodiscard]] Search search(std::string_view text) const;

  /// The most steps that a search can take. Most take a tiny part of it.
  [[nodiscard]] std::uint64_t search_steps_max(std::string_view text) const {
    return (text.size() + 1) * size_;
  }

 private:
  Regex(std::unique_ptr<const re2::RE2> expression, std::uint64_t size);

  std::unique_ptr<const re2::RE2> expression_;
  std::uint64_t size_;
};

}  // namespace postrider::json_schema
