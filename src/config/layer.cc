#include "config/layer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/suggestion.h"

#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr std::string_view variable_prefix = "POSTRIDER_";

// Variables that other code reads: secrets, the location of the configuration, and variables of
// other commands and of the tests.
constexpr std::array<std::string_view, 9> other_variables = {
    "POSTRIDER_ADMIN_KEY", "POSTRIDER_SECRETS_KEY", "POSTRIDER_CONFIG",
    "POSTRIDER_PROFILE",   "POSTRIDER_SERVER",      "POSTRIDER_URL",
    "POSTRIDER_KEY",       "POSTRIDER_SECRET",      "POSTRIDER_BINARY"};
constexpr std::string_view test_prefix = "POSTRIDER_TEST_";

bool is_read_elsewhere(std::string_view name) {
  return name.starts_with(test_prefix) ||
         std::ranges::find(other_variables, name) != other_variables.end();
}

// Settings whose value is the name of a variable.
constexpr std::array<std::string_view, 4> variable_keys = {"address_env", "url_env", "secret_env",
                                                           "smtp.password_env"};

bool names_variable(const std::vector<Assignment>& assignments, const std::string& name) {
  return std::ranges::any_of(assignments, [&](const Assignment& assignment) {
    return std::ranges::find(variable_keys, assignment.key) != variable_keys.end() &&
           assignment.value == Value{name};
  });
}

/// True if the file says that the variable contains an address or a secret.
bool is_named(const Layer& file, const std::string& name) {
  const auto names = [&](const TableEntry& entry) {
    return names_variable(entry.assignments, name);
  };
  return names_variable(file.assignments, name) || std::ranges::any_of(file.sources, names) ||
         std::ranges::any_of(file.channels, names);
}

const Setting* setting_of_variable(std::string_view name) {
  for (const Setting& setting : all_settings()) {
    if (variable_of(setting.key) == name) {
      return &setting;
    }
  }
  return nullptr;
}

/// Compares names without their common prefix, which would make all of them look similar.
std::optional<std::string> nearest_variable(std::string_view name) {
  std::vector<std::string> known;
  for (const Setting& setting : all_settings()) {
    known.push_back(variable_of(setting.key).substr(variable_prefix.size()));
  }
  return closest(name.substr(variable_prefix.size()), known);
}

Result<Assignment> parse_text(const Setting& setting, const std::string& given,
                              const std::string& name) {
  const bool is_keyword = !setting.keyword.empty() && given == setting.keyword;
  std::optional<Value> value = parse_value(is_keyword ? Kind::text : setting.kind, given);
  if (!value) {
    return fail(Errc::invalid, fmt::format("{} {}, not `{}`.", name, setting.rule, given));
  }
  return Assignment{.key = setting.key, .value = *std::move(value), .origin = {}};
}

}  // namespace

Result<Layer> read_variables(const Variables& variables, const Layer& file,
                             std::vector<std::string>& unknown_variables) {
  Layer layer;
  for (const auto& [name, given] : variables) {
    if (!name.starts_with(variable_prefix) || is_read_elsewhere(name) || is_named(file, name)) {
      continue;
    }
    const Setting* const setting = setting_of_variable(name);
    if (setting != nullptr) {
      POSTRIDER_TRY(Assignment assignment, parse_text(*setting, given, name));
      assignment.origin = "environment " + name;
      layer.assignments.push_back(std::move(assignment));
      continue;
    }
    if (const std::optional<std::string> meant = nearest_variable(name)) {
      return fail(Errc::invalid, fmt::format("{} is not a setting; did you mean {}{}?", name,
                                             variable_prefix, *meant));
    }
    unknown_variables.push_back(name);
  }
  return layer;
}

Result<Layer> read_flags(const std::vector<Override>& overrides) {
  Layer layer;
  for (const Override& override : overrides) {
    const Setting* const setting = find_setting(override.key);
    if (setting == nullptr) {
      std::vector<std::string> known;
      for (const Setting& each : all_settings()) {
        known.push_back(each.key);
      }
      const std::optional<std::string> meant = closest(override.key, known);
      return fail(Errc::invalid,
                  fmt::format("{}: there is no setting `{}`{}", override.flag, override.key,
                              meant ? "; did you mean `" + *meant + "`?" : "."));
    }
    const std::string name =
        override.flag == "--set" ? fmt::format("--set {}", override.key) : override.flag;
    POSTRIDER_TRY(Assignment assignment, parse_text(*setting, override.value, name));
    assignment.origin = "flag " + override.flag;
    layer.assignments.push_back(std::move(assignment));
  }
  return layer;
}

}  // namespace postrider::config
