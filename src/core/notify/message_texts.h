// The forms of a message: e-mail, Slack, Teams. Each is a template; files can replace them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/notify/text_template.h"

namespace postrider {

/// The names of the files that replace the built-in templates.
enum class MessagePart : std::uint8_t { subject, text, html, slack, teams };
constexpr std::size_t message_part_count = 5;

[[nodiscard]] std::string_view file_name_of(MessagePart part);
[[nodiscard]] std::string_view built_in_template(MessagePart part);

class MessageTexts {
 public:
  /// `files`: contents by name; others than those of file_name_of are ignored. Fails with invalid
  /// if one is not a template, or is not JSON where it must be.
  [[nodiscard]] static Result<MessageTexts> make(const std::map<std::string, std::string>& files);

  /// `slack` and `teams` are always valid JSON: where a file would not give that, the built-in
  /// template is used. `subject` has no line breaks.
  [[nodiscard]] std::string render(MessagePart part, const TemplateScope& scope) const;

 private:
  std::array<TextTemplate, message_part_count> built_in_;
  std::array<TextTemplate, message_part_count> chosen_;
};

}  // namespace postrider
