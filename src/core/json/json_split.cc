#include "core/json/json_split.h"

#include <cstring>

#include "core/base/trim.h"

namespace postrider {
namespace {

/// `at` is after the opening quote. Returns the position after the closing quote, or null.
const char* skip_string(const char* at, const char* end) {
  const char* const begin = at;
  while (at < end) {
    const auto* quote =
        static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (quote == nullptr) {
      return nullptr;
    }
    const char* before = quote;
    while (before > begin && before[-1] == '\\') {
      --before;
    }
    at = quote + 1;
    if ((quote - before) % 2 == 0) {
      return at;  // Not escaped.
    }
  }
  return nullptr;
}

class Splitter {
 public:
  explicit Splitter(std::string_view text)
      : at_(text.data()), end_(at_ + text.size()), element_(at_) {}

  [[nodiscard]] std::optional<std::vector<std::string_view>> split() {
    if (at_ == end_ || *at_ != '[') {
      return std::nullopt;
    }
    while (at_ < end_ && step()) {
    }
    // The outermost bracket must close at the last character.
    return closed_ && at_ == end_ ? std::optional{std::move(elements_)} : std::nullopt;
  }

 private:
  /// Returns false if the array has ended or a string has no closing quote.
  bool step() {
    const char character = *at_++;
    switch (character) {
      case '"':
        at_ = skip_string(at_, end_);
        if (at_ == nullptr) {
          at_ = end_;
          return false;
        }
        return true;
      case '[':
      case '{':
        if (++depth_ == 1) {
          element_ = at_;
        }
        return true;
      case ']':
      case '}':
        if (--depth_ == 0) {
          closed_ = character == ']';
          keep(at_ - 1);
          return false;
        }
        return true;
      case ',':
        if (depth_ == 1) {
          keep(at_ - 1);
          element_ = at_;
          has_comma_ = true;
        }
        return true;
      default:
        return true;
    }
  }

  void keep(const char* end) {
    const std::string_view element = trim({element_, end}, white_space);
    if (!element.empty() || has_comma_ || *end == ',') {
      elements_.push_back(element);
    }
  }

  const char* at_;
  const char* end_;
  const char* element_;  // The start of the current element.
  std::size_t depth_ = 0;
  bool has_comma_ = false;  // In the outermost array. Then empty text is a missing element.
  bool closed_ = false;
  std::vector<std::string_view> elements_;
};

}  // namespace

std::optional<std::vector<std::string_view>> split_json_array(std::string_view text) {
  return Splitter{trim(text, white_space)}.split();
}

}  // namespace postrider
