// Walks JSON text that has been checked before (json_text.h) from left to right, value by value,
// without a tree and without copies. Text that was not checked is read without harm, but what comes
// out then means nothing.
#pragma once

#include <optional>
#include <string_view>

namespace postrider {

/// A place in text it does not own. One thread.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view checked) : rest_(checked) {}

  /// The first character of the value ahead: `{`, `[`, `"`, or that of a number or literal. Zero at
  /// the end of the text.
  [[nodiscard]] char peek();

  /// Steps over the bracket of an object or array.
  void enter();
  /// Inside an object: steps over the next key and its colon and returns the key's content, still
  /// escaped. nullopt: the object is over and its bracket stepped over.
  [[nodiscard]] std::optional<std::string_view> next_key();
  /// Inside an array: stands before the next element. False: the array is over, as above.
  [[nodiscard]] bool next_element();

  /// Steps over a string, number or literal and returns its text, a string's quotes included.
  [[nodiscard]] std::string_view take_scalar();
  /// Steps over any value.
  void skip_value();

 private:
  void skip_space();
  [[nodiscard]] std::string_view take_string();

  std::string_view rest_;
};

}  // namespace postrider
