#include "core/notify/text_template.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/trim.h"
#include "core/json/json_string.h"

namespace postrider {
namespace {

constexpr std::size_t depth_max = 10;  // Bounds recursion.

std::string to_html(std::string_view value) {
  std::string out;
  for (const char letter : value) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

/// Only these three are escaped: a `<` begins links and mentions such as `<!channel>`.
std::string to_slack(std::string_view value) {
  std::string out;
  for (const char letter : value) {
    if (letter == '&') {
      out += "&amp;";
    } else if (letter == '<' || letter == '>') {
      out += letter == '<' ? "&lt;" : "&gt;";
    } else {
      out += letter;
    }
  }
  return out;
}

std::string to_markdown(std::string_view value) {
  std::string out;
  for (const char letter : value) {
    if (std::string_view{"\\`*_{}[]()#+!|<>~"}.find(letter) != std::string_view::npos) {
      out += '\\';
    }
    out += letter;
  }
  return out;
}

/// The content of a JSON string.
std::string to_json(std::string_view value) {
  std::string quoted;
  append_json_string(quoted, value);
  return quoted.substr(1, quoted.size() - 2);
}

std::string one_line(std::string_view value) {
  std::string line{value};
  std::ranges::replace_if(line, [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
  return line;
}

}  // namespace

std::string escape_for(TemplateForm form, std::string_view value) {
  switch (form) {
    case TemplateForm::html:
      return to_html(value);
    case TemplateForm::slack:
      return to_json(to_slack(value));
    case TemplateForm::teams:
      return to_json(to_markdown(value));
    case TemplateForm::text:
      break;
  }
  return one_line(value);
}

/// Reads the parts up to the end of a section or of the text.
struct TextTemplate::Parser {
  std::string_view text;
  std::size_t at = 0;

  struct Tag {
    std::string_view content;  // Without white space and braces.
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  /// Whether nothing but white space is on the line of the tag.
  [[nodiscard]] bool is_alone(const Tag& tag) const {
    const std::size_t start = tag.begin == 0 ? 0 : text.rfind('\n', tag.begin - 1) + 1;
    const std::size_t end = std::min(text.find('\n', tag.end), text.size());
    return trim(text.substr(start, tag.begin - start), white_space).empty() &&
           trim(text.substr(tag.end, end - tag.end), white_space).empty();
  }

  /// Appends the text before the tag. A line with nothing but a section's tag or a comment is left
  /// out.
  void append_text(const Tag& tag, std::vector<Part>& parts) {
    std::string_view before = text.substr(at, tag.begin - at);
    at = tag.end;
    if (!tag.content.empty() &&
        std::string_view{"#^/!"}.find(tag.content[0]) != std::string_view::npos && is_alone(tag)) {
      before = before.substr(0, before.find_last_not_of(" \t") + 1);
      at = std::min(text.find('\n', tag.end), text.size() - 1) + 1;
    }
    if (!before.empty()) {
      parts.push_back({Kind::text, std::string{before}, {}});
    }
  }

  Result<std::vector<Part>> read(std::string_view section, std::size_t depth) {
    if (depth > depth_max) {
      return fail(Errc::invalid, fmt::format("Sections are nested more than {} deep", depth_max));
    }
    std::vector<Part> parts;
    while (at < text.size()) {
      const std::size_t open = text.find("{{", at);
      if (open == std::string_view::npos) {
        parts.push_back({Kind::text, std::string{text.substr(at)}, {}});
        at = text.size();
        break;
      }
      const std::size_t close = text.find("}}", open);
      if (close == std::string_view::npos) {
        return fail(Errc::invalid, "A `{{` has no `}}`");
      }
      const std::string_view tag = trim(text.substr(open + 2, close - open - 2), white_space);
      append_text({tag, open, close + 2}, parts);
      const std::string_view name = trim(tag.substr(tag.empty() ? 0 : 1), white_space);
      if (tag.starts_with('/')) {
        if (section.empty() || name != section) {
          return fail(Errc::invalid, fmt::format("`{{{{{}}}}}` does not end a section", tag));
        }
        return parts;
      }
      if (tag.starts_with('#') || tag.starts_with('^')) {
        POSTRIDER_TRY(std::vector<Part> inner, read(name, depth + 1));
        parts.push_back(
            {tag[0] == '#' ? Kind::section : Kind::inverted, std::string{name}, std::move(inner)});
      } else if (tag.starts_with('&')) {
        parts.push_back({Kind::address, std::string{name}, {}});
      } else if (!tag.starts_with('!')) {
        parts.push_back({Kind::value, std::string{tag}, {}});
      }
    }
    if (!section.empty()) {
      return fail(Errc::invalid, fmt::format("The section `{}` has no end", section));
    }
    return parts;
  }
};

class TextTemplate::Renderer {
 public:
  Renderer(TemplateForm form, const TemplateScope& scope) : form_(form), scopes_{&scope} {}

  std::string render(const std::vector<Part>& parts) {
    std::string out;
    append(parts, out);
    return out;
  }

 private:
  void append(const std::vector<Part>& parts, std::string& out) {
    for (const Part& part : parts) {
      switch (part.kind) {
        case Kind::text:
          out += part.text;
          break;
        case Kind::value:
          out += escape_for(form_, value(part.text));
          break;
        case Kind::address:
          append_address(part.text, out);
          break;
        case Kind::section:
          append_section(part, out);
          break;
        case Kind::inverted:
          if (const auto* list = find_list(part.text);
              list ? list->empty() : value(part.text).empty()) {
            append(part.parts, out);
          }
          break;
      }
    }
  }

  void append_address(std::string_view name, std::string& out) {
    const bool is_chat = form_ == TemplateForm::slack || form_ == TemplateForm::teams;
    out += is_chat ? to_json(value(name)) : escape_for(form_, value(name));
  }

  void append_section(const Part& part, std::string& out) {
    const std::vector<TemplateScope>* list = find_list(part.text);
    if (!list) {
      if (!value(part.text).empty()) {
        append(part.parts, out);
      }
      return;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      TemplateScope place;
      place.values["first"] = i == 0 ? "yes" : "";
      place.values["last"] = i + 1 == list->size() ? "yes" : "";
      scopes_.push_back(&place);
      scopes_.push_back(&(*list)[i]);
      append(part.parts, out);
      scopes_.pop_back();
      scopes_.pop_back();
    }
  }

  [[nodiscard]] std::string_view value(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = (*scope)->values.find(name); found != (*scope)->values.end()) {
        return found->second;
      }
    }
    return {};
  }

  [[nodiscard]] const std::vector<TemplateScope>* find_list(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = (*scope)->lists.find(name); found != (*scope)->lists.end()) {
        return &found->second;
      }
    }
    return nullptr;
  }

  TemplateForm form_;
  std::vector<const TemplateScope*> scopes_;  // Innermost last.
};

Result<TextTemplate> TextTemplate::parse(std::string_view text, TemplateForm form) {
  Parser parser{text};
  TextTemplate made;
  POSTRIDER_TRY(made.parts_, parser.read({}, 0));
  made.form_ = form;
  return made;
}

std::string TextTemplate::render(const TemplateScope& scope) const {
  return Renderer{form_, scope}.render(parts_);
}

}  // namespace postrider
