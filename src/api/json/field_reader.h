// Typed access to the members of a JSON object, straight from the checked text. Everything that is
// wrong is collected, so that a caller learns of all mistakes in a body at once.
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
  /// 422 with every error; `unknown_field` when nothing else is wrong, else `validation_failed`.
  [[nodiscard]] Problem problem() const;

 private:
  std::vector<FieldError> errors_;  // The first errors_shown_max of them.
  std::size_t count_ = 0;
  std::size_t unknown_count_ = 0;
};

/// What a body says about one field: nothing, null, or a value. A wrong value counts as nothing; it
/// has been reported.
template <class T>
struct Given {
  bool present = false;
  std::optional<T> value;  // Not set although present: null.

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
  bool multiline = false;  // Tabs and line ends are allowed.
};

/// Reads one object. Every name a caller asks for is known; `finish` reports the others. The
/// members point into a text that outlives the reader. One thread.
class ObjectReader {
 public:
  /// `path` is the dotted name of the object, empty for the body itself.
  ObjectReader(std::vector<JsonMember> members, std::string path, FieldErrors& errors);

  /// The raw value, null included. nullopt when absent.
  [[nodiscard]] std::optional<std::string_view> raw(std::string_view name);

  [[nodiscard]] Given<std::string> text(std::string_view name, TextRule rule);
  [[nodiscard]] Given<bool> boolean(std::string_view name);
  [[nodiscard]] Given<std::int64_t> integer(std::string_view name, IntegerRange range);
  [[nodiscard]] Given<double> number(std::string_view name, NumberRange range);
  [[nodiscard]] Given<WallTime> time(std::string_view name);
  [[nodiscard]] Given<ObjectReader> object(std::string_view name);
  /// An object kept as its text.
  [[nodiscard]] Given<std::string> verbatim_object(std::string_view name, std::size_t bytes_max);
  [[nodiscard]] Given<std::vector<std::string_view>> array(std::string_view name,
                                                           IntegerRange count);

  /// One of a closed list of words. `parse` gives an optional; `words` lists them for people.
  template <class Parse>
  [[nodiscard]] auto choice(std::string_view name, Parse parse, std::string_view words) {
    const auto read = [&](std::string_view slice) -> decltype(parse(std::string_view{})) {
      const std::optional<std::string> word = decode_json_string(slice);
      return word ? parse(std::string_view{*word}) : std::nullopt;
    };
    return typed(name, read, [&] { return "must be one of " + std::string{words} + "."; });
  }

  void refuse(std::string_view name, std::string message);
  /// The same for a place inside of a field: `path` begins with the field's name.
  void refuse_at(std::string_view path, std::string message);
  void finish();

  [[nodiscard]] const std::vector<JsonMember>& members() const { return members_; }
  [[nodiscard]] std::string path_of(std::string_view name) const;
  [[nodiscard]] FieldErrors& errors() const { return *errors_; }

 private:
  /// `read` gives an optional from the raw value; `rule` says, when it gives none, what is asked
  /// for.
  template <class Read, class Rule>
  auto typed(std::string_view name, Read read, Rule rule)
      -> Given<typename decltype(read(std::string_view{}))::value_type> {
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
  std::uint64_t taken_ = 0;  // One bit per member that was asked for.
};

/// The number in a raw JSON slice, when it is one and within the range.
[[nodiscard]] std::optional<std::int64_t> read_integer(std::string_view raw, IntegerRange range);
[[nodiscard]] std::optional<double> read_number(std::string_view raw, NumberRange range);

/// nullopt: fine. Otherwise what is wrong with the text, as the end of a sentence.
[[nodiscard]] std::optional<std::string> text_fault(std::string_view text, TextRule rule);

/// Absent leaves the target, null resets it, a value replaces it.
template <class T, class Target>
void assign(Given<T> given, Target& target, const Target& fallback) {
  if (given.present) {
    target = given.value ? static_cast<Target>(*std::move(given.value)) : fallback;
  }
}
template <class T>
void assign(Given<T> given, std::optional<T>& target) {
  if (given.present) {
    target = std::move(given.value);
  }
}
inline void assign_millis(const Given<std::int64_t>& given, Millis& target, Millis fallback) {
  if (given.present) {
    target = given.value ? Millis{*given.value} : fallback;
  }
}

}  // namespace postrider::api
