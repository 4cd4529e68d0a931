#include <algorithm>

#include <gtest/gtest.h>

#include "core/json/json_text.h"

#include "config/channel_settings.h"
#include "config/load.h"
#include "config/print.h"

namespace postrider::config {
namespace {

Sources from_file(const std::string& file, Variables variables = {}) {
  return {.profile = {},
          .file = "p.toml",
          .variables = std::move(variables),
          .overrides = {},
          .read_file = [file](const std::string&) -> Result<std::string> { return file; }};
}

Loaded load_file(const std::string& file, Variables variables = {}) {
  Result<Loaded> loaded = load(from_file(file, std::move(variables)));
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? *std::move(loaded) : Loaded{};
}

std::string refusal(const std::string& file, Variables variables = {}) {
  const Result<Loaded> loaded = load(from_file(file, std::move(variables)));
  return loaded ? "accepted" : loaded.error().message;
}

const std::string email =
    "[[notification_channels]]\nname = \"On call\"\nkind = \"email\"\nto = [\"a@b.example\"]\n";
const std::string slack =
    "[[notification_channels]]\nname = \"Chat\"\nkind = \"slack\"\n"
    "url = \"https://hooks.example.com/services/canary\"\n";

TEST(ChannelSettings, KeysAreUniqueAndDescribed) {
  std::vector<std::string> keys;
  Config config;
  config.channels.emplace_back();
  for (const auto& [setting, kinds] : channel_settings()) {
    EXPECT_EQ(std::ranges::count(keys, setting.key), 0) << setting.key;
    keys.push_back(setting.key);
    EXPECT_EQ(setting.help.back(), '.') << setting.key;
    EXPECT_TRUE(setting.rule.starts_with("must be ")) << setting.key;
    EXPECT_EQ(kind_of(setting.read(config)), setting.kind) << setting.key;
  }
}

TEST(ChannelConfig, AllSettingsAreRead) {
  const Config config =
      load_file(email +
                "to_owner = true\nto_contacts = true\nkinds = [\"circuit_opened\", "
                "\"operation_finished\"]\nseverity_min = \"critical\"\nwebhook_ids = "
                "[\"whk_01kf3zq5m8e2v9x7t4c6b0n1a3\"]\nsend_resolved = false\n"
                "group_window_ms = 5\nper_hour_max = 2\nactive = false\n" +
                slack)
          .config;
  ASSERT_EQ(config.channels.size(), 2u);
  const ChannelConfig& mail = config.channels[0];
  EXPECT_EQ(mail.name, "On call");
  EXPECT_EQ(mail.email,
            (EmailTarget{.to = {"a@b.example"}, .to_owner = true, .to_contacts = true}));
  EXPECT_EQ(mail.kinds,
            (std::vector<NotificationKind>{NotificationKind::of(AlertKind::circuit_opened),
                                           NotificationKind::operation_finished()}));
  EXPECT_EQ(mail.severity_min, Severity::critical);
  EXPECT_EQ(mail.webhook_ids.size(), 1u);
  EXPECT_FALSE(mail.send_resolved);
  EXPECT_EQ(mail.group_window, Millis{5});
  EXPECT_EQ(mail.per_hour_max, 2u);
  EXPECT_FALSE(mail.active);
  EXPECT_EQ(config.channels[1].kind, ChannelKind::slack);
  EXPECT_EQ(config.channels[1].url.reveal(), "https://hooks.example.com/services/canary");
  EXPECT_TRUE(config.channels[1].send_resolved);
  EXPECT_EQ(config.channels[1].per_hour_max, 30u);
}

TEST(ChannelConfig, UrlAndSecretCanBeInAnyVariable) {
  const std::string file =
      "[[notification_channels]]\nname = \"Ops\"\nkind = \"webhook\"\nurl_env = \"HOOK\"\n"
      "secret_env = \"POSTRIDER_LISTEM\"\n";
  const std::string secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
  const Loaded loaded =
      load_file(file, {{"HOOK", "https://example.com/h"}, {"POSTRIDER_LISTEM", secret}});
  EXPECT_EQ(loaded.config.channels[0].url.reveal(), "https://example.com/h");
  EXPECT_TRUE(loaded.config.channels[0].secret.has_value());
  EXPECT_TRUE(loaded.unknown_variables.empty());
  EXPECT_EQ(refusal(file), "p.toml:4: the environment variable `HOOK` is not set.");
  EXPECT_EQ(refusal(file, {{"HOOK", "https://example.com/h"}, {"POSTRIDER_LISTEM", "canary"}}),
            "p.toml:5: the variable does not contain a secret of the scheme "
            "webhooks.signature.scheme.");
}

TEST(ChannelConfig, ErrorsNameFileAndLineAndNoUrl) {
  const std::pair<std::string, std::string> cases[] = {
      {"notification_channels = 1",
       "p.toml:1: notification_channels must be at most 20 tables [[notification_channels]]."},
      {"[[notification_channels]]\nname = \"a\"",
       "p.toml:1: a notification channel needs a `kind`: email, webhook, slack or teams."},
      {"[[notification_channels]]\nkind = \"fax\"",
       "p.toml:2: `kind` of a notification channel must be one of email, webhook, slack, teams, "
       "not \"fax\"."},
      {"[[notification_channels]]\nkind = \"email\"\nto_owner = true",
       "p.toml:1: a notification channel needs a `name`."},
      {"[[notification_channels]]\nname = \"a\"\nkind = \"email\"",
       "p.toml:1: a notification channel of kind email needs `to`, `to_owner` or `to_contacts`."},
      {"[[notification_channels]]\nname = \"a\"\nkind = \"email\"\nto = [\"x\"]",
       "p.toml:4: `to` of a notification channel must be a list of at most 20 e-mail addresses "
       "such as ops@example.com, not [\"x\"]."},
      {"[[notification_channels]]\nname = \"a\"\nkind = \"slack\"",
       "p.toml:1: a notification channel of kind slack needs either `url` or `url_env`."},
      {"[[notification_channels]]\nname = \"a\"\nkind = \"slack\"\nurl = \"ftp://canary\"",
       "p.toml:4: the URL of the notification channel is not acceptable: "},
      {email + "url = \"https://x.example/\"",
       "p.toml:5: `url` is not a setting of a notification channel of kind email."},
      {email + "too = 1",
       "p.toml:5: a notification channel has no setting `too`; did you mean "
       "`to`?"},
      {email + "per_hour_max = 0",
       "p.toml:5: `per_hour_max` of a notification channel must be an integer from 1 to 1000, not "
       "0."},
      {email + "kinds = [\"test\"]",
       "p.toml:5: `kinds` of a notification channel must be a list of kinds of alerts, such as "
       "circuit_opened, not [\"test\"]."},
      {email + email, "p.toml:6: there is a notification channel `On call` already, in p.toml:1."},
      {"[[event_types]]\nname = \"postrider.own\"",
       "p.toml:1: event types that begin with `postrider.` are reserved."}};
  for (const auto& [file, message] : cases) {
    EXPECT_TRUE(refusal(file).starts_with(message)) << refusal(file);
    EXPECT_EQ(refusal(file).find("canary"), std::string::npos) << refusal(file);
  }
}

TEST(ChannelConfig, UrlsAndPasswordsAreNotPrinted) {
  const Loaded loaded =
      load_file(email + slack +
                    "[smtp]\nserver = \"mail.example.com\"\nuser = \"u\"\npassword_env = \"PW\"\n",
                {{"PW", "canary"}});
  EXPECT_EQ(loaded.config.smtp.password->reveal(), "canary");
  for (const std::string& printed : {print_config(loaded), print_config_json(loaded)}) {
    EXPECT_EQ(printed.find("canary"), std::string::npos) << printed;
  }
  EXPECT_NE(print_config(loaded).find("url = \"https://hooks.example.com/***\"  # The rest is not "
                                      "shown.\n"),
            std::string::npos);
  EXPECT_TRUE(check_json(print_config_json(loaded)).has_value());
}

TEST(ChannelConfig, WhatIsPrintedLoadsAsTheSame) {
  const std::string file = email +
                           "[[notification_channels]]\nname = \"Chat\"\nkind = \"teams\"\n"
                           "url_env = \"U\"\nkinds = [\"queue_deep\"]\n";
  const Variables variables{{"U", "https://example.com/h"}};
  const Loaded loaded = load_file(file, variables);
  EXPECT_EQ(load_file(print_config(loaded), variables).config.channels, loaded.config.channels);
}

TEST(ChannelConfig, AChangeNeedsARestart) {
  const Loaded running = load_file(email);
  const Loaded wanted = load_file(email + slack);
  EXPECT_EQ(compare(running.config, wanted.config).at_restart,
            std::vector<std::string>{"notification_channels"});
  EXPECT_EQ(merge_reload(running, wanted).config.channels, running.config.channels);
}

TEST(SmtpConfig, ThePasswordNeedsAUserAndOnePlace) {
  EXPECT_EQ(refusal("[smtp]\npassword_env = \"PW\"\n", {{"PW", "x"}}),
            "p.toml:2: smtp.password_env requires smtp.user.");
  EXPECT_EQ(refusal("[smtp]\nuser = \"u\"\npassword_env = \"PW\"\n"),
            "p.toml:3: smtp.password_env names the environment variable `PW`, which is not set.");
  EXPECT_EQ(refusal("[smtp]\nuser = \"u\"\npassword_env = \"PW\"\npassword_file = \"f\"\n",
                    {{"PW", "x"}}),
            "p.toml:3: smtp.password_env cannot be combined with smtp.password_file.");
  EXPECT_TRUE(
      refusal("[smtp]\nfrom = \"a@b.c\\nBcc: x@y.z\"\n").starts_with("p.toml:2: smtp.from"));
  EXPECT_EQ(load_file("[smtp]\nsecurity = \"tls\"\nport = 465\n").config.smtp.security,
            SmtpSecurity::tls);
}

TEST(ShownChannelUrl, HidesWhatFollowsTheHost) {
  EXPECT_EQ(shown_channel_url("https://hooks.example.com/services/x"),
            "https://hooks.example.com/***");
  EXPECT_EQ(shown_channel_url("https://example.com?token=x"), "https://example.com/***");
  EXPECT_EQ(shown_channel_url("https://example.com/"), "https://example.com/");
  EXPECT_EQ(shown_channel_url("https://example.com"), "https://example.com/");
  EXPECT_EQ(shown_channel_url("canary"), "***");
  EXPECT_EQ(shown_channel_url(""), "");
}

}  // namespace
}  // namespace postrider::config
