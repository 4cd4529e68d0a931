// A small template language for the texts of notifications, a subset of Mustache:
//
//     {{name}}                      a value, escaped for the form of the text
//     {{&name}}                     the same for an address: marks of Slack and Markdown are kept
//     {{#name}} … {{/name}}         repeated for each element of a list; or shown if the value is
//                                   not empty
//     {{^name}} … {{/name}}         shown if the list or the value is empty
//     {{! anything }}               a comment
//
// A line with nothing but the tag of a section or a comment is left out.
// A name that is not in the innermost element is looked up outside of it. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace postrider {

/// Values and lists of a template. The elements of a list also have the value `first` or `last`,
/// where it applies.
struct TemplateScope {
  std::map<std::string, std::string, std::less<>> values;
  std::map<std::string, std::vector<TemplateScope>, std::less<>> lists;
};

enum class TemplateForm : std::uint8_t {
  text,   // Nothing is escaped. Line breaks in values become spaces.
  html,   // Entities.
  slack,  // A string in JSON, in which Slack's control characters are escaped.
  teams,  // A string in JSON, in which Markdown is escaped.
};

class TextTemplate {
 public:
  /// Fails with invalid if a section is not closed, or is too deep.
  [[nodiscard]] static Result<TextTemplate> parse(std::string_view text, TemplateForm form);

  /// Unknown names are empty.
  [[nodiscard]] std::string render(const TemplateScope& scope) const;

 private:
  enum class Kind : std::uint8_t { text, value, address, section, inverted };
  struct Part {
    Kind kind = Kind::text;
    std::string text;         // Or the name.
    std::vector<Part> parts;  // Of a section.
  };
  struct Parser;  // Reads the text.
  class Renderer;

  std::vector<Part> parts_;
  TemplateForm form_ = TemplateForm::text;
};

[[nodiscard]] std::string escape_for(TemplateForm form, std::string_view value);

}  // namespace postrider
