#include "config/log_format_hint.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/base/trim.h"

#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr std::string_view key = "log.format";

/// The format that a TOML value names: `"json"`, with an optional comment after it.
std::optional<LogFormat> quoted_format(std::string_view value) {
  value = trim(value, white_space);
  if (value.size() < 2 || (value.front() != '"' && value.front() != '\'')) {
    return std::nullopt;
  }
  return parse_log_format(value.substr(1, value.find(value.front(), 1) - 1));
}

/// Finds `format = …` in an inline table.
std::optional<LogFormat> format_in_table(std::string_view table) {
  const std::size_t name = table.find("format");
  const std::size_t equals = name == std::string_view::npos ? name : table.find('=', name);
  return equals == std::string_view::npos ? std::nullopt : quoted_format(table.substr(equals + 1));
}

std::optional<LogFormat> format_in_file(std::string_view text) {
  std::optional<LogFormat> found;
  std::string section;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end), white_space);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('[')) {
      section = trim(line.substr(1, line.find(']') - 1));
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    const std::string name{trim(line.substr(0, equals))};
    const std::string_view value = line.substr(equals + 1);
    const std::string path = section.empty() ? name : fmt::format("{}.{}", section, name);
    const std::optional<LogFormat> format = path == key     ? quoted_format(value)
                                            : path == "log" ? format_in_table(value)
                                                            : std::nullopt;
    found = format ? format : found;
  }
  return found;
}

std::string value_of(const Variables& variables, std::string_view name) {
  for (const auto& [each, value] : variables) {
    if (each == name) {
      return value;
    }
  }
  return {};
}

}  // namespace

LogFormat hinted_log_format(const Sources& sources) {
  std::optional<LogFormat> format;
  const std::string path =
      sources.file.empty() ? value_of(sources.variables, "POSTRIDER_CONFIG") : sources.file;
  if (const Result<std::string> text = path.empty() ? std::string{} : sources.read_file(path)) {
    format = format_in_file(*text);
  }
  if (const auto named = parse_log_format(value_of(sources.variables, variable_of(key)))) {
    format = named;
  }
  for (const Override& each : sources.overrides) {
    const auto named = each.key == key ? parse_log_format(each.value) : std::nullopt;
    format = named ? named : format;
  }
  return format.value_or(LogFormat::text);
}

}  // namespace postrider::config
