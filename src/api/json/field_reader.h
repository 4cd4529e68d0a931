// Typed access to the fields of a JSON object. Collects all errors, so that one response can list
// every mistake in a body. The text must have passed the checks of core/json/json_text.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/json/json_text.h"

#include "api/http/problem.h"

namespace postrider::api {

class FieldErrors {
 public:
  void add(std::string field, std::string message);
  void add_unknown(std::string field);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] const std::vector<FieldError>& all() const { return errors_; }
  /// A 422 with all errors. Its code is `unknown_field` if there are only unknown fields, otherwise
  /// `validation_failed`.
  [[nodiscard]] Problem problem() const;

 private:
  std::vector<FieldError> errors_;  // At most errors_shown_max.
  std::size_t count_ = 0;
  std::size_t unknown_count_ = 0;
};

/// One field of a body: absent, null or a value. A field with an invalid value has been reported
/// and counts as absent.
template <class T>
struct JsonField {
  bool present = false;
  std::optional<T> value;  // Unset if absent or null.

  [[nodiscard]] bool is_null() const { return present && !value; }
};

struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = 0;
};
struct NumberRange {
  double min = 0;
  double max = 0;
};
struct TextRule {
  std::size_t bytes_max = 256;
  bool multiline = false;  // Allows tabs and line breaks.
};

/// Completes the error message "must be …".
constexpr std::string_view range_time_words =
    "an RFC 3339 time such as 2026-01-31T23:59:59.123Z, or a date such as 2026-01-31";

/// Reads the fields of one object. Every name that is read counts as known; `finish` reports all
/// others. The text of the members must outlive this object. One thread.
class ObjectReader {
 public:
  /// `path` is the dotted name of the object, empty for the body itself.
  ObjectReader(std::vector<JsonMember> members, std::string path, FieldErrors& errors);

  /// The JSON text of the value, including `null`. Returns nullopt if the field is absent.
  [[nodiscard]] std::optional<std::string_view> raw(std::string_view name);

  [[nodiscard]] JsonField<std::string> text(std::string_view name, TextRule rule);
  [[nodiscard]] JsonField<bool> boolean(std::string_view name);
  [[nodiscard]] JsonField<std::int64_t> integer(std::string_view name, IntegerRange range);
  [[nodiscard]] JsonField<double> number(std::string_view name, NumberRange range);
  [[nodiscard]] JsonField<WallTime> time(std::string_view name);
  /// The ends of a range: times or dates (core/base/range_time.h).
  [[nodiscard]] JsonField<WallTime> start_time(std::string_view name);
  [[nodiscard]] JsonField<WallTime> end_time(std::string_view name);
  [[nodiscard]] JsonField<ObjectReader> object(std::string_view name);
  /// The JSON text of an object.
  [[nodiscard]] JsonField<std::string> verbatim_object(std::string_view name,
                                                       std::size_t bytes_max);
  [[nodiscard]] JsonField<std::vector<std::string_view>> array(std::string_view name,
                                                               IntegerRange count);

  /// A string that `parse` accepts; `parse` returns an optional. `words` lists the accepted strings
  /// in the error message.
  template <class Parse>
  [[nodiscard]] auto choice(std::string_view name, Parse parse, std::string_view words) {
    const auto read = [&](std::string_view slice) -> decltype(parse(std::string_view{})) {
      const std::optional<std::string> word = decode_json_string(slice);
      return word ? parse(std::string_view{*word}) : std::nullopt;
    };
    return typed(name, read, [&] { return "must be one of " + std::string{words} + "."; });
  }

  /// Reports an error. `message` continues the sentence that starts with the name of the field.
  void refuse(std::string_view name, std::string message);
  /// Reports an error inside a field. `path` starts with the name of the field.
  void refuse_at(std::string_view path, std::string message);
  /// Reports all fields that were not read as unknown. Call after all fields have been read.
  void finish();

  [[nodiscard]] const std::vector<JsonMember>& members() const { return members_; }
  [[nodiscard]] std::string path_of(std::string_view name) const;
  [[nodiscard]] FieldErrors& errors() const { return *errors_; }

 private:
  using ParseTime = std::optional<WallTime> (*)(std::string_view text);
  JsonField<WallTime> time_of(std::string_view name, ParseTime parse, std::string_view words);

  /// `read` converts the JSON text and returns an optional. If that is empty, `rule()` is the error
  /// message.
  template <class Read, class Rule>
  auto typed(std::string_view name, Read read, Rule rule)
      -> JsonField<typename decltype(read(std::string_view{}))::value_type> {
    const std::optional<std::string_view> slice = raw(name);
    if (!slice || *slice == "null") {
      return {.present = slice.has_value(), .value = std::nullopt};
    }
    auto value = read(*slice);
    if (!value) {
      refuse(name, rule());
      return {};
    }
    return {.present = true, .value = std::move(value)};
  }

  std::vector<JsonMember> members_;
  std::string path_;
  FieldErrors* errors_;
  std::uint64_t read_ = 0;  // One bit per member that was read.
};

/// Converts JSON text to a number. Returns nullopt if it is not a number or out of range.
[[nodiscard]] std::optional<std::int64_t> read_integer(std::string_view raw, IntegerRange range);
[[nodiscard]] std::optional<double> read_number(std::string_view raw, NumberRange range);

/// Checks a text. Returns nullopt if it is valid, otherwise an error message for refuse().
[[nodiscard]] std::optional<std::string> text_fault(std::string_view text, TextRule rule);

/// Applies a field to `target`: an absent field changes nothing, null resets it, a value replaces
/// it.
template <class T, class Target>
void assign(JsonField<T> field, Target& target, const Target& fallback) {
  if (field.present) {
    target = field.value ? static_cast<Target>(*std::move(field.value)) : fallback;
  }
}
template <class T>
void assign(JsonField<T> field, std::optional<T>& target) {
  if (field.present) {
    target = std::move(field.value);
  }
}
inline void assign_millis(const JsonField<std::int64_t>& field, Millis& target, Millis fallback) {
  if (field.present) {
    target = field.value ? Millis{*field.value} : fallback;
  }
}

}  // namespace postrider::api
