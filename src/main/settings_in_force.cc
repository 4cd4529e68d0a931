#include "main/settings_in_force.h"

#include <fmt/format.h>

#include "core/net/header_rules.h"

#include "api/json/json_writer.h"
#include "config/origin.h"
#include "config/settings.h"

namespace postrider {
namespace {

/// TOML and JSON write all values of settings in the same way. A path may be any bytes.
std::string to_json(const config::Value& value) { return api::clean_utf8(config::to_toml(value)); }

api::SettingInForce describe_secret(const std::string& variable, bool is_set,
                                    std::string description) {
  return {.name = variable,
          .value = is_set ? to_json(std::string{hidden_value}) : "null",
          .default_value = "null",
          .origin = is_set ? "environment" : "default",
          .detail = is_set ? std::optional{variable} : std::nullopt,
          .description = std::move(description)};
}

}  // namespace

std::vector<api::SettingInForce> settings_in_force(const config::Loaded& loaded) {
  const config::Config defaults;
  std::vector<api::SettingInForce> settings;
  for (const config::Setting& setting : config::all_settings()) {
    config::Origin origin = config::split_origin(loaded.origin_of(setting.key));
    settings.push_back({.name = setting.key,
                        .value = to_json(setting.read(loaded.config)),
                        .default_value = to_json(setting.read(defaults)),
                        .origin = std::move(origin.source),
                        .detail = std::move(origin.detail),
                        .description = setting.help,
                        .reloads = setting.reloads});
  }
  settings.push_back(describe_secret("POSTRIDER_ADMIN_KEY", loaded.config.admin_key.has_value(),
                                     "The admin key, if it is not created by the server."));
  settings.push_back(describe_secret("POSTRIDER_SECRETS_KEY", loaded.config.secrets.key.has_value(),
                                     "The key that encrypts stored secrets."));
  return settings;
}

}  // namespace postrider
