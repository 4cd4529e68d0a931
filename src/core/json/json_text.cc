#include "core/json/json_text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <forward_list>

#include <fmt/format.h>

#include "core/json/json_string.h"

namespace postrider {
namespace {

// Duplicates among up to this many keys are found by linear search; larger objects are sorted once,
// at their end. Unlike hashing, sorting cannot be made slow by an attacker's choice of keys.
constexpr std::size_t keys_searched_max = 16;

// Enough for the keys of most events, so that the list is allocated once.
constexpr std::size_t keys_reserved = 32;

// A longer duplicate key is not shown in the message.
constexpr std::size_t key_shown_bytes_max = 64;

constexpr bool is_digit(char character) { return character >= '0' && character <= '9'; }

// Where to store the slices of the outermost object or array (null: nowhere), and the maximum
// depth.
struct ScanOptions {
  std::vector<JsonMember>* members = nullptr;
  std::vector<std::string_view>* elements = nullptr;
  std::size_t depth_max = json_depth_max;
};

// One pass over the text, without recursion. Every step records an error and returns false.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text, const ScanOptions& options = {})
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), options_(options) {}

  [[nodiscard]] Result<void> scan_text() {
    bool fine = true;
    do {
      fine = begin_value() && finish_value();
    } while (fine && depth_ > 0);
    skip_space();
    if (fine && at_ != end_) {
      fine = refuse("unexpected text after the value");
    }
    return fine ? Result<void>{} : failure();
  }

 private:
  struct Frame {
    bool is_object = false;
    std::size_t keys_begin = 0;  // Where this object's keys start in keys_.
  };

  struct Key {
    std::string_view text;  // Decoded.
    std::size_t offset = 0;

    [[nodiscard]] bool comes_before(const Key& other) const {
      const int order = text.compare(other.text);
      return order != 0 ? order < 0 : offset < other.offset;
    }
  };

  [[nodiscard]] char peek() const { return at_ < end_ ? *at_ : '\0'; }

  [[nodiscard]] bool take(char expected) {
    if (at_ == end_ || *at_ != expected) {
      return false;
    }
    ++at_;
    return true;
  }

  bool refuse(std::string_view what) { return refuse_at(at_, std::string{what}); }

  bool refuse_at(const char* where, std::string what) {
    error_ = std::move(what);
    error_offset_ = static_cast<std::size_t>(where - begin_);
    return false;
  }

  [[nodiscard]] tl::unexpected<Error> failure() const {
    return fail(Errc::invalid, fmt::format("Invalid JSON at byte {}: {}.", error_offset_, error_));
  }

  void skip_space() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) {
      ++at_;
    }
  }

  // Moves at_ past the first complete value: a scalar, or an empty array or object. Pushes the
  // arrays and objects that enclose it onto the stack.
  [[nodiscard]] bool begin_value() {
    for (;;) {
      skip_space();
      if (depth_ == 1) {
        value_begin_ = at_;
      }
      const char first = peek();
      if (first != '{' && first != '[') {
        return scan_scalar(first);
      }
      if (depth_ == options_.depth_max) {
        return refuse(fmt::format("more than {} levels of arrays and objects", json_depth_max));
      }
      const bool is_object = first == '{';
      frames_[depth_++] = Frame{.is_object = is_object, .keys_begin = keys_.size()};
      ++at_;
      skip_space();
      if (take(is_object ? '}' : ']')) {
        --depth_;
        return true;
      }
      if (is_object && !scan_key()) {
        return false;
      }
    }
  }

  // After a value: closes the arrays and objects that end here, then skips the comma and key of the
  // next value.
  [[nodiscard]] bool finish_value() {
    while (depth_ > 0) {
      if (depth_ == 1) {
        keep_slice();
      }
      skip_space();
      const Frame& frame = frames_[depth_ - 1];
      if (take(',')) {
        skip_space();
        return !frame.is_object || scan_key();
      }
      if (!take(frame.is_object ? '}' : ']')) {
        return refuse(at_ == end_       ? "the text ends too early"
                      : frame.is_object ? "expected a comma or }"
                                        : "expected a comma or ]");
      }
      if (frame.is_object && !close_object(frame)) {
        return false;
      }
      --depth_;
    }
    return true;
  }

  [[nodiscard]] bool scan_scalar(char first) {
    switch (first) {
      case '"':
        ++at_;
        return scan_string_rest();
      case 't':
        return scan_literal("true");
      case 'f':
        return scan_literal("false");
      case 'n':
        return scan_literal("null");
      default:
        break;
    }
    if (first == '-' || is_digit(first)) {
      return scan_number();
    }
    return refuse(at_ == end_ ? "the text ends too early" : "expected a value");
  }

  [[nodiscard]] bool scan_literal(std::string_view literal) {
    const auto left = static_cast<std::size_t>(end_ - at_);
    if (left < literal.size() || std::memcmp(at_, literal.data(), literal.size()) != 0) {
      return refuse("expected a value");
    }
    at_ += literal.size();
    return true;
  }

  [[nodiscard]] bool scan_number() {
    (void)take('-');
    if (!take('0') && !scan_digits()) {
      return refuse("expected a digit");
    }
    if (is_digit(peek())) {
      return refuse("a number must not have leading zeros");
    }
    if (take('.') && !scan_digits()) {
      return refuse("expected a digit after the decimal point");
    }
    if (take('e') || take('E')) {
      if (!take('+')) {
        (void)take('-');
      }
      if (!scan_digits()) {
        return refuse("expected a digit in the exponent");
      }
    }
    return true;
  }

  [[nodiscard]] bool scan_digits() {
    const char* const start = at_;
    while (at_ < end_ && is_digit(*at_)) {
      ++at_;
    }
    return at_ != start;
  }

  // at_ is after the opening quote. Moves it past the closing one.
  [[nodiscard]] bool scan_string_rest() {
    const JsonStringScan scan = scan_json_string({at_, end_});
    if (!scan.error.empty()) {
      return refuse_at(at_ + scan.length, std::string{scan.error});
    }
    string_content_ = {at_, scan.length};
    string_has_escape_ = scan.has_escape;
    at_ += scan.length + 1;
    return true;
  }

  // Scans a key and its colon, and checks for a duplicate. at_ is after any white space.
  [[nodiscard]] bool scan_key() {
    const char* const start = at_;
    if (!take('"')) {
      return refuse(at_ == end_ ? "the text ends too early" : "expected a key in quotes");
    }
    if (!scan_string_rest()) {
      return false;
    }
    std::string_view text = string_content_;
    if (string_has_escape_) {
      text = decoded_keys_.emplace_front(decode_json_content(text));
    }
    if (!add_key({.text = text, .offset = static_cast<std::size_t>(start - begin_)})) {
      return false;
    }
    skip_space();
    if (!take(':')) {
      return refuse("expected a colon after the key");
    }
    if (depth_ == 1 && options_.members != nullptr) {
      options_.members->push_back(JsonMember{.key = std::string{text}, .value = {}});
    }
    return true;
  }

  [[nodiscard]] bool add_key(const Key& key) {
    const auto siblings =
        keys_.begin() + static_cast<std::ptrdiff_t>(frames_[depth_ - 1].keys_begin);
    if (static_cast<std::size_t>(keys_.end() - siblings) < keys_searched_max) {
      const auto same = [&key](const Key& other) { return other.text == key.text; };
      if (std::any_of(siblings, keys_.end(), same)) {
        return refuse_duplicate(key);
      }
    }
    if (keys_.capacity() == 0) {
      keys_.reserve(keys_reserved);
    }
    keys_.push_back(key);
    return true;
  }

  [[nodiscard]] bool close_object(const Frame& frame) {
    const auto siblings = keys_.begin() + static_cast<std::ptrdiff_t>(frame.keys_begin);
    if (static_cast<std::size_t>(keys_.end() - siblings) > keys_searched_max) {
      std::sort(siblings, keys_.end(),
                [](const Key& a, const Key& b) { return a.comes_before(b); });
      const auto same = [](const Key& a, const Key& b) { return a.text == b.text; };
      const auto duplicate = std::adjacent_find(siblings, keys_.end(), same);
      if (duplicate != keys_.end()) {
        return refuse_duplicate(*std::next(duplicate));
      }
    }
    keys_.erase(siblings, keys_.end());
    return true;
  }

  bool refuse_duplicate(const Key& key) {
    std::string what = "the object already has this key";
    if (key.text.size() <= key_shown_bytes_max) {
      what = fmt::format("the object already has the key \"{}\"", key.text);
    }
    return refuse_at(begin_ + key.offset, std::move(what));
  }

  void keep_slice() {
    const std::string_view value{value_begin_, at_};
    if (options_.members != nullptr && !options_.members->empty()) {
      options_.members->back().value = value;
    }
    if (options_.elements != nullptr) {
      options_.elements->push_back(value);
    }
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  ScanOptions options_;
  std::array<Frame, json_depth_max + 1> frames_{};
  std::size_t depth_ = 0;
  std::vector<Key> keys_;                        // Of all open objects, outermost first.
  std::forward_list<std::string> decoded_keys_;  // Storage for keys that contain escapes.
  std::string_view string_content_;              // Of the last scanned string, still escaped.
  bool string_has_escape_ = false;
  const char* value_begin_ = nullptr;  // Of the current value in the outermost container.
  std::string error_;
  std::size_t error_offset_ = 0;
};

// The first character that is not white space.
char first_character(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \n\r\t");
  return first == std::string_view::npos ? '\0' : text[first];
}

Result<std::vector<JsonMember>> read_members(std::string_view text, std::size_t depth_max) {
  std::vector<JsonMember> members;
  POSTRIDER_CHECK(JsonScanner{text, {.members = &members, .depth_max = depth_max}}.scan_text());
  if (first_character(text) != '{') {
    return fail(Errc::invalid, "The JSON must be an object.");
  }
  return members;
}

}  // namespace

Result<void> check_json(std::string_view text) { return JsonScanner{text}.scan_text(); }

Result<std::vector<JsonMember>> read_json_object(std::string_view text) {
  return read_members(text, json_depth_max);
}

Result<std::vector<JsonMember>> read_json_envelope(std::string_view text) {
  return read_members(text, json_depth_max + 1);
}

Result<std::vector<std::string_view>> read_json_array(std::string_view text) {
  std::vector<std::string_view> elements;
  POSTRIDER_CHECK(JsonScanner{text, {.elements = &elements}}.scan_text());
  if (first_character(text) != '[') {
    return fail(Errc::invalid, "The JSON must be an array.");
  }
  return elements;
}

std::optional<std::string> decode_json_string(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"') {
    return std::nullopt;
  }
  const JsonStringScan scan = scan_json_string(raw.substr(1));
  if (!scan.error.empty() || scan.length + 2 != raw.size()) {
    return std::nullopt;
  }
  return decode_json_content(raw.substr(1, scan.length));
}

}  // namespace postrider
