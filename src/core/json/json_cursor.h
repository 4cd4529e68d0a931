// Reads validated JSON text (see json_text.h) from left to right, value by value, without building
// a tree or copying. Text that was not validated is safe to read, but gives meaningless results.
#pragma once

#include <optional>
#include <string_view>

namespace postrider {

/// A position in a text, which must outlive this object. One thread.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view checked) : rest_(checked) {}

  /// The first character of the next value: `{`, `[`, `"`, or that of a number or literal. Zero at
  /// the end of the text.
  [[nodiscard]] char peek();

  /// Skips the opening bracket of an object or array.
  void enter();
  /// Inside an object: skips the next key and its colon, and returns the key's content, still
  /// escaped. At the end of the object, skips its closing bracket and returns nullopt.
  [[nodiscard]] std::optional<std::string_view> next_key();
  /// Inside an array: moves to the next element. At the end, skips the bracket and returns false.
  [[nodiscard]] bool next_element();

  /// Skips a string, number or literal and returns its text, including the quotes of a string.
  [[nodiscard]] std::string_view take_scalar();
  /// Skips any value.
  void skip_value();

 private:
  void skip_space();
  [[nodiscard]] std::string_view take_string();

  std::string_view rest_;
};

}  // namespace postrider
