#include "main/settings_in_force.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "config/settings.h"

namespace postrider {
namespace {

api::SettingInForce find(const config::Loaded& loaded, const std::string& name) {
  const std::vector<api::SettingInForce> all = settings_in_force(loaded);
  const auto found = std::ranges::find(all, name, &api::SettingInForce::name);
  return found == all.end() ? api::SettingInForce{} : *found;
}

TEST(SettingsInForce, ListEverySettingOnceAndTheSecrets) {
  const std::vector<api::SettingInForce> all = settings_in_force({});
  ASSERT_EQ(all.size(), config::all_settings().size() + 2);
  for (std::size_t i = 0; i < config::all_settings().size(); ++i) {
    EXPECT_EQ(all[i].name, config::all_settings()[i].key);
    EXPECT_EQ(all[i].value, all[i].default_value);
    EXPECT_EQ(all[i].origin, "default");
    EXPECT_EQ(all[i].detail, std::nullopt);
    EXPECT_NE(all[i].description, "");
  }
}

TEST(SettingsInForce, HaveTheirValueAndOrigin) {
  config::Loaded loaded;
  loaded.config.io_threads = 3;
  loaded.origins["io_threads"] = "own.toml:4";
  const api::SettingInForce setting = find(loaded, "io_threads");
  EXPECT_EQ(setting.value, "3");
  EXPECT_EQ(setting.default_value, "0");
  EXPECT_EQ(setting.origin, "file");
  EXPECT_EQ(setting.detail, "own.toml:4");
  EXPECT_FALSE(setting.reloads);
  EXPECT_TRUE(find(loaded, "log.level").reloads);
}

TEST(SettingsInForce, AreValidUnicodeWhateverThePathIs) {
  config::Loaded loaded;
  loaded.config.data = "/tmp/caf\xE9";
  EXPECT_EQ(find(loaded, "data").value, "\"/tmp/caf\xEF\xBF\xBD\"");
}

TEST(SettingsInForce, HideSecrets) {
  config::Loaded loaded;
  EXPECT_EQ(find(loaded, "POSTRIDER_ADMIN_KEY").value, "null");
  loaded.config.admin_key = Secret<std::string>{"canary-admin"};
  loaded.config.secrets.key = Secret<std::string>{"canary-secrets"};
  for (const char* name : {"POSTRIDER_ADMIN_KEY", "POSTRIDER_SECRETS_KEY"}) {
    EXPECT_EQ(find(loaded, name).value, "\"[hidden]\"");
    EXPECT_EQ(find(loaded, name).origin, "environment");
    EXPECT_EQ(find(loaded, name).detail, name);
  }
  for (const api::SettingInForce& setting : settings_in_force(loaded)) {
    EXPECT_EQ(setting.value.find("canary"), std::string::npos) << setting.name;
  }
}

}  // namespace
}  // namespace postrider
