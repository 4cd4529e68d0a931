#include <gtest/gtest.h>

#include "core/json/json_text.h"

#include "config/load.h"
#include "config/print.h"
#include "config/source_settings.h"

namespace postrider::config {
namespace {

using namespace std::chrono_literals;

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

std::string refusal(const std::string& file) {
  const Result<Loaded> loaded = load(from_file(file));
  return loaded ? "accepted" : loaded.error().message;
}

const std::string outbox =
    "[[sources]]\nname = \"shop\"\nkind = \"outbox\"\n"
    "address = \"postgres://app:canary@db/shop\"\n";
const std::string redis =
    "[[sources]]\nname = \"cache\"\nkind = \"redis\"\naddress = \"redis://:canary@cache\"\n";
const std::string amqp =
    "[[sources]]\nname = \"mq\"\nkind = \"amqp\"\naddress = \"amqps://u:canary@mq\"\n"
    "queue = \"events\"\n";

TEST(SourceSettings, KeysAreUniqueAndDescribed) {
  std::vector<std::string> keys;
  Config config;
  config.sources.emplace_back();
  for (const auto& [setting, kinds] : source_settings()) {
    EXPECT_EQ(std::ranges::count(keys, setting.key), 0) << setting.key;
    keys.push_back(setting.key);
    EXPECT_EQ(setting.help.back(), '.') << setting.key;
    EXPECT_TRUE(setting.rule.starts_with("must be ")) << setting.key;
    EXPECT_EQ(kind_of(setting.read(config)), setting.kind) << setting.key;
  }
}

TEST(SourceConfig, EachKindHasItsDefaults) {
  const Config config = load_file(outbox + amqp + redis + "stream = \"s\"\n").config;
  ASSERT_EQ(config.sources.size(), 3u);
  const SourceConfig& shop = config.sources[0];
  EXPECT_EQ(shop.name, "shop");
  EXPECT_EQ(shop.kind, SourceKind::outbox);
  EXPECT_EQ(shop.address.reveal(), "postgres://app:canary@db/shop");
  EXPECT_EQ(shop.mode, OutboxMode::cursor);
  EXPECT_EQ(shop.table, "webhook_outbox");
  EXPECT_EQ(shop.mapping.fields, default_fields(SourceKind::outbox));
  const SourceConfig& mq = config.sources[1];
  EXPECT_EQ(mq.queue, "events");
  EXPECT_EQ(mq.parking, "events.rejected");
  EXPECT_TRUE(mq.declares);
  EXPECT_EQ(mq.prefetch, 1'000u);
  const SourceConfig& cache = config.sources[2];
  EXPECT_EQ(cache.stream, "s");
  EXPECT_EQ(cache.group, "postrider");
  EXPECT_EQ(cache.parking, "s.rejected");
  EXPECT_EQ(cache.claim_after, 60s);
  EXPECT_EQ(cache.batch_max, 500u);
}

TEST(SourceConfig, AllSettingsAreRead) {
  const Config config =
      load_file(outbox +
                "tenant = \"acme\"\ndefault_type = \"a.b\"\nkey_prefix = \"s-\"\n"
                "batch_max = 7\nmode = \"status\"\ntable = \"app.events\"\n"
                "keep_delivered_seconds = 60\nca_file = \"/ca.pem\"\n"
                "[sources.fields]\ndata = \"body\"\ntype = [\"kind\", \"type\"]\n"
                "priority = []\n" +
                redis +
                "stream = \"s\"\ngroup = \"g\"\nconsumer = \"c\"\njson_field = \"j\"\n"
                "claim_after_ms = 5000\ntrim = true\nparking = \"p\"\n" +
                amqp + "declare = false\nprefetch = 5\n")
          .config;
  ASSERT_EQ(config.sources.size(), 3u);
  const SourceConfig& shop = config.sources[0];
  EXPECT_EQ(shop.mapping.tenant_id, "acme");
  EXPECT_EQ(shop.mapping.default_type, "a.b");
  EXPECT_EQ(shop.mapping.key_prefix, "s-");
  EXPECT_EQ(shop.batch_max, 7u);
  EXPECT_EQ(shop.mode, OutboxMode::status);
  EXPECT_EQ(shop.table, "app.events");
  EXPECT_EQ(shop.keep_delivered, 60s);
  EXPECT_EQ(shop.ca_file, "/ca.pem");
  EXPECT_EQ(shop.mapping.fields.at("data"), Texts{"body"});
  EXPECT_EQ(shop.mapping.fields.at("type"), (Texts{"kind", "type"}));
  EXPECT_EQ(shop.mapping.fields.at("priority"), Texts{});
  EXPECT_EQ(shop.mapping.fields.at("idempotency_key"), Texts{"id"});
  const SourceConfig& cache = config.sources[1];
  EXPECT_EQ(cache.group, "g");
  EXPECT_EQ(cache.consumer, "c");
  EXPECT_EQ(cache.json_field, "j");
  EXPECT_EQ(cache.claim_after, 5s);
  EXPECT_TRUE(cache.trims);
  EXPECT_EQ(cache.parking, "p");
  EXPECT_FALSE(config.sources[2].declares);
  EXPECT_EQ(config.sources[2].prefetch, 5u);
}

TEST(SourceConfig, ProfilesSetDefaultsOfSources) {
  const Config workspace = load_file("profile = \"workspace\"\n" + redis).config;
  EXPECT_EQ(workspace.sources.front().stream, "queues:webhooks");
  EXPECT_EQ(workspace.sources.front().group, "worker-webhooks");
  EXPECT_EQ(load_file("profile = \"outbox\"\n" + outbox).config.sources.front().mode,
            OutboxMode::status);
  const Config own = load_file("profile = \"workspace\"\n" + redis + "stream = \"s\"").config;
  EXPECT_EQ(own.sources.front().stream, "s");
}

TEST(SourceConfig, TheAddressCanBeInAnyVariable) {
  const std::string file =
      "[[sources]]\nname = \"shop\"\nkind = \"outbox\"\naddress_env = \"POSTRIDER_LISTEM\"\n";
  const Loaded loaded = load_file(file, {{"POSTRIDER_LISTEM", "postgres://u:canary@db/s"}});
  EXPECT_EQ(loaded.config.sources.front().address.reveal(), "postgres://u:canary@db/s");
  EXPECT_TRUE(loaded.unknown_variables.empty());
  EXPECT_EQ(refusal(file), "p.toml:4: the environment variable `POSTRIDER_LISTEM` is not set.");
}

TEST(SourceConfig, ErrorsNameFileAndLine) {
  struct Case {
    std::string file;
    std::string message;
  };
  const Case cases[] = {
      {"sources = 1", "p.toml:1: sources must be at most 100 tables [[sources]]."},
      {"sources = [1]", "p.toml:1: sources must be at most 100 tables [[sources]]."},
      {"[[sources]]\nname = \"a\"", "p.toml:1: a source needs a `kind`: outbox, redis or amqp."},
      {"[[sources]]\nkind = \"kafka\"",
       "p.toml:2: `kind` of a source must be one of outbox, redis, amqp, not \"kafka\"."},
      {"[[sources]]\nkind = \"outbox\"\naddress = \"postgres://db\"",
       "p.toml:1: a source needs a `name`."},
      {"[[sources]]\nname = \"a b\"\nkind = \"outbox\"",
       "p.toml:2: `name` of a source must be 1 to 64 letters, digits and any of `_.-`, and begin "
       "with a letter or digit, not \"a b\"."},
      {"[[sources]]\nname = \"a\"\nkind = \"outbox\"",
       "p.toml:1: a source needs either `address` or `address_env`."},
      {outbox + "address_env = \"X\"",
       "p.toml:5: a source needs either `address` or `address_env`."},
      {"[[sources]]\nname = \"a\"\nkind = \"redis\"\naddress = \"postgres://canary\"",
       "p.toml:4: the address of a source of kind redis must begin with redis:// or rediss:// and "
       "have only visible ASCII characters."},
      {outbox + "adress = \"x\"",
       "p.toml:5: a source has no setting `adress`; did you mean `address`?"},
      {outbox + "stream = \"x\"",
       "p.toml:5: `stream` is not a setting of a source of kind outbox."},
      {outbox + "batch_max = 0",
       "p.toml:5: `batch_max` of a source must be an integer from 1 to 1000, not 0."},
      {outbox + "batch_max = \"7\"",
       "p.toml:5: `batch_max` of a source must be an integer from 1 to 1000."},
      {outbox + "table = \"a; drop table b\"",
       "p.toml:5: `table` of a source must be `table` or `schema.table`, of letters, digits and "
       "`_`, not \"a; drop table b\"."},
      {outbox + "keep_delivered_seconds = 1",
       "p.toml:5: `keep_delivered_seconds` requires mode = \"status\"."},
      {outbox + "fields = 1", "p.toml:5: `fields` is a section; write it under [sources.fields]."},
      {outbox + "[sources.fields]\ntyp = \"x\"",
       "p.toml:6: an event has no member `typ`; did you mean `type`?"},
      {outbox + "[sources.fields]\ntype = 1",
       "p.toml:6: `fields.type` must be the name of a field or a list of names."},
      {outbox + "[sources.fields]\ntype = \"\"",
       "p.toml:6: `fields.type` must be at most 8 names of 1 to 256 characters."},
      {redis, "p.toml:1: a source of kind redis needs a `stream` and a `group`."},
      {redis + "stream = \"s\"\nparking = \"s\"",
       "p.toml:6: `parking` must not be where the messages come from."},
      {"[[sources]]\nname = \"mq\"\nkind = \"amqp\"\naddress = \"amqp://mq\"",
       "p.toml:1: a source of kind amqp needs a `queue`."},
      {outbox + outbox, "p.toml:6: there is a source `shop` already, in p.toml:1."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(refusal(c.file), c.message) << c.file;
  }
}

TEST(SourceConfig, PasswordsAreNotPrinted) {
  const Loaded loaded = load_file(outbox + amqp + redis + "stream = \"s\"\n");
  for (const std::string& printed : {print_config(loaded), print_config_json(loaded)}) {
    EXPECT_EQ(printed.find("canary"), std::string::npos) << printed;
  }
  EXPECT_NE(print_config(loaded).find("\n[[sources]]  # p.toml:1\nname = \"shop\"\n"
                                      "kind = \"outbox\"\naddress = "
                                      "\"postgres://app:***@db/shop\"  # The password is not "
                                      "shown.\n"),
            std::string::npos);
  EXPECT_TRUE(check_json(print_config_json(loaded)).has_value());
}

TEST(SourceConfig, WhatIsPrintedLoadsAsTheSame) {
  const std::string file =
      "[[sources]]\nname = \"shop\"\nkind = \"outbox\"\naddress_env = \"A\"\nmode = \"status\"\n"
      "keep_delivered_seconds = 5\n[sources.fields]\npriority = []\n";
  const Variables variables{{"A", "postgres://u:canary@db/s"}};
  const Loaded loaded = load_file(file, variables);
  EXPECT_EQ(load_file(print_config(loaded), variables).config.sources, loaded.config.sources);
}

TEST(SourceConfig, AChangeNeedsARestart) {
  const Loaded running = load_file(outbox);
  const Loaded wanted = load_file(outbox + "batch_max = 9\n" + amqp);
  EXPECT_EQ(compare(running.config, wanted.config).at_restart, std::vector<std::string>{"sources"});
  EXPECT_EQ(merge_reload(running, wanted).config.sources, running.config.sources);
  EXPECT_TRUE(compare(running.config, running.config).at_restart.empty());
}

}  // namespace
}  // namespace postrider::config
