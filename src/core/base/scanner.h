// Reads fixed-format text, such as dates, from left to right. A step that does not match consumes
// nothing and returns false or nullopt.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace postrider {

/// Does not own the text, which must outlive this object.
class Scanner {
 public:
  explicit constexpr Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] constexpr bool at_end() const { return rest_.empty(); }

  [[nodiscard]] constexpr bool skip(std::string_view literal) {
    if (!rest_.starts_with(literal)) {
      return false;
    }
    rest_.remove_prefix(literal.size());
    return true;
  }

  /// Consumes one character if it is in `characters`, and returns it.
  [[nodiscard]] constexpr std::optional<char> one_of(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) {
      return std::nullopt;
    }
    const char found = rest_.front();
    rest_.remove_prefix(1);
    return found;
  }

  [[nodiscard]] constexpr std::optional<int> digit() {
    const std::optional<char> found = one_of("0123456789");
    return found ? std::optional{*found - '0'} : std::nullopt;
  }

  /// Consumes exactly `count` digits. `count` is at most nine.
  [[nodiscard]] constexpr std::optional<int> digits(std::size_t count) {
    if (rest_.size() < count) {
      return std::nullopt;
    }
    Scanner ahead = *this;
    int value = 0;
    for (std::size_t index = 0; index < count; ++index) {
      const std::optional<int> next = ahead.digit();
      if (!next) {
        return std::nullopt;
      }
      value = value * 10 + *next;
    }
    *this = ahead;
    return value;
  }

  /// Consumes the first of `words` that matches and returns its index.
  [[nodiscard]] constexpr std::optional<std::size_t> word(std::span<const std::string_view> words) {
    for (std::size_t index = 0; index < words.size(); ++index) {
      if (skip(words[index])) {
        return index;
      }
    }
    return std::nullopt;
  }

 private:
  std::string_view rest_;
};

}  // namespace postrider
