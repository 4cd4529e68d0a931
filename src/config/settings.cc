#include "config/settings.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "core/base/enum_names.h"

namespace postrider::config {
namespace {

constexpr EnumNames<KeyDerivation, KeyDerivation::resource> derivation_names{{"none", "resource"}};
constexpr EnumNames<RepeatInProgress, RepeatInProgress::conflict> repeat_names{
    {"duplicate", "conflict"}};

constexpr EnumNames<LogFormat, LogFormat::json> log_format_names{{"text", "json"}};
constexpr EnumNames<LogAccess, LogAccess::off> log_access_names{{"all", "errors", "off"}};

std::vector<Setting> join() {
  std::vector<Setting> all;
  for (auto* section :
       {server_settings, cluster_settings, api_settings, portal_settings, engine_settings,
        webhook_settings, retry_settings, breaker_settings, retention_settings, tracing_settings,
        source_default_settings, notification_settings}) {
    std::ranges::move(section(), std::back_inserter(all));
  }
  return all;
}

std::unordered_map<std::string_view, const Setting*> index_of(const std::vector<Setting>& all) {
  std::unordered_map<std::string_view, const Setting*> index;
  for (const Setting& setting : all) {
    index.emplace(setting.key, &setting);
  }
  return index;
}

}  // namespace

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> all = join();
  return all;
}

const Setting* find_setting(std::string_view key) {
  static const auto index = index_of(all_settings());
  const auto found = index.find(key);
  return found == index.end() ? nullptr : found->second;
}

std::string variable_of(std::string_view key) {
  std::string name = "POSTRIDER_";
  for (const char character : key) {
    const bool lower = character >= 'a' && character <= 'z';
    name += character == '.' ? '_' : lower ? static_cast<char>(character - 'a' + 'A') : character;
  }
  return name;
}

std::string_view to_string(KeyDerivation derivation) { return derivation_names.name(derivation); }

std::optional<KeyDerivation> parse_key_derivation(std::string_view text) {
  return derivation_names.find(text);
}

std::string_view to_string(RepeatInProgress answer) { return repeat_names.name(answer); }

std::optional<RepeatInProgress> parse_repeat_in_progress(std::string_view text) {
  return repeat_names.find(text);
}

std::string_view to_string(LogFormat format) { return log_format_names.name(format); }

std::optional<LogFormat> parse_log_format(std::string_view text) {
  return log_format_names.find(text);
}

std::string_view to_string(LogAccess access) { return log_access_names.name(access); }

std::optional<LogAccess> parse_log_access(std::string_view text) {
  return log_access_names.find(text);
}

}  // namespace postrider::config
