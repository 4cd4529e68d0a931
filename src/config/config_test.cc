#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/json/json_text.h"

#include "config/load.h"
#include "config/print.h"
#include "config/profiles.h"
#include "config/settings.h"

namespace postrider::config {
namespace {

using namespace std::chrono_literals;

Sources sources(const std::string& file, Variables variables = {}) {
  return {.profile = {},
          .file = file.empty() ? "" : "p.toml",
          .variables = std::move(variables),
          .overrides = {},
          .read_file = [file](const std::string&) -> Result<std::string> { return file; }};
}

Loaded load_all(const Sources& from) {
  Result<Loaded> loaded = load(from);
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? *std::move(loaded) : Loaded{};
}

Loaded load_file(const std::string& file) { return load_all(sources(file)); }

std::string refusal(const Sources& from) {
  const Result<Loaded> loaded = load(from);
  return loaded ? "accepted" : loaded.error().message;
}

TEST(Settings, KeysAndVariablesAreUnique) {
  std::set<std::string> keys;
  std::set<std::string> variables;
  for (const Setting& setting : all_settings()) {
    EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
    EXPECT_TRUE(variables.insert(variable_of(setting.key)).second) << setting.key;
    EXPECT_FALSE(setting.help.empty());
    EXPECT_EQ(setting.help.back(), '.') << setting.key;
    EXPECT_TRUE(setting.rule.starts_with("must be ")) << setting.key;
    EXPECT_EQ(kind_of(setting.read(Config{})), setting.kind) << setting.key;
  }
  EXPECT_EQ(variable_of("api.body_bytes_max"), "POSTRIDER_API_BODY_BYTES_MAX");
}

TEST(Settings, DefaultsAreValid) {
  for (const Setting& setting : all_settings()) {
    Config config;
    EXPECT_TRUE(setting.assign(config, setting.read(Config{}))) << setting.key;
  }
}

TEST(Load, UsesDefaultsWithoutAnySource) {
  const Loaded loaded = load_file("");
  EXPECT_EQ(loaded.config.listen, "127.0.0.1:8080");
  EXPECT_EQ(loaded.config.data, "./postrider-data");
  EXPECT_EQ(loaded.config.webhooks.defaults, Webhook{});
  EXPECT_EQ(loaded.config.webhooks.disable_after, 120h);
  EXPECT_EQ(loaded.config.retention.events, 24h * 90);
  EXPECT_EQ(loaded.config.retention.dead_letters, 24h * 30);
  EXPECT_EQ(loaded.origin_of("listen"), "default");
}

TEST(Load, RelativeArchiveOfAProfileOrFileIsBelowTheDataDirectory) {
  const std::string relative = "data = \"/d\"\n[retention]\narchive_directory = \"old/events\"";
  EXPECT_EQ(load_file(relative).config.retention.archive_directory, "/d/old/events");
  const std::string absolute = "data = \"/d\"\n[retention]\narchive_directory = \"/old\"";
  EXPECT_EQ(load_file(absolute).config.retention.archive_directory, "/old");
  EXPECT_EQ(load_file("profile = \"platform\"").config.retention.archive_directory,
            "./postrider-data/archive");
  EXPECT_EQ(load_file("profile = \"platform\"\ndata = \"d/\"").config.retention.archive_directory,
            "d/archive");
  EXPECT_EQ(load_file("profile = \"platform\"\n[retention]\narchive_directory = \"\"")
                .config.retention.archive_directory,
            "");
  EXPECT_EQ(load_file("profile = \"tenant\"").config.retention.archive_directory, "");
}

TEST(Load, RelativeArchiveOfAVariableOrFlagIsKept) {
  Sources from =
      sources("profile = \"platform\"", {{"POSTRIDER_RETENTION_ARCHIVE_DIRECTORY", "here"}});
  EXPECT_EQ(load_all(from).config.retention.archive_directory, "here");
  from.overrides = {{"retention.archive_directory", "there", "--archive"}};
  EXPECT_EQ(load_all(from).config.retention.archive_directory, "there");
}

TEST(Load, LaterSourcesWin) {
  Sources from =
      sources("listen = \"127.0.0.1:1\"\nio_threads = 1\n[webhooks]\nmax_in_flight = 9\n",
              {{"POSTRIDER_LISTEN", "127.0.0.1:2"}, {"POSTRIDER_IO_THREADS", "2"}});
  from.profile = "platform";
  from.overrides = {{"listen", "127.0.0.1:3", "--listen"}};
  const Loaded loaded = load_all(from);
  EXPECT_EQ(loaded.config.listen, "127.0.0.1:3");
  EXPECT_EQ(loaded.config.io_threads, 2u);
  EXPECT_EQ(loaded.config.webhooks.defaults.max_in_flight, 9u);
  EXPECT_EQ(loaded.config.user_agent, "WebhookService/1.0");
  EXPECT_EQ(loaded.origin_of("listen"), "flag --listen");
  EXPECT_EQ(loaded.origin_of("io_threads"), "environment POSTRIDER_IO_THREADS");
  EXPECT_EQ(loaded.origin_of("webhooks.max_in_flight"), "p.toml:4");
  EXPECT_EQ(loaded.origin_of("user_agent"), "profile platform");
  EXPECT_EQ(loaded.origin_of("profile"), "flag --profile");
  EXPECT_EQ(loaded.origin_of("data"), "default");
}

TEST(Load, AFlagOverridesTheProfileOfTheFile) {
  EXPECT_EQ(load_file("profile = \"tenant\"").config.webhooks.defaults.retry.timeout, 10s);
  Sources from = sources("profile = \"tenant\"");
  from.profile = "workspace";
  EXPECT_EQ(load_all(from).config.webhooks.defaults.retry.multiplier, 5.0);
  EXPECT_EQ(load_all(from).config.profile, "workspace");
  EXPECT_EQ(load_all(sources("", {{"POSTRIDER_PROFILE", "outbox"}})).config.profile, "outbox");
}

TEST(Load, ErrorsNameFileAndLine) {
  struct Case {
    std::string file;
    std::string message;
  };
  const Case cases[] = {
      {"listn = \"x\"", "p.toml:1: there is no setting `listn`; did you mean `listen`?"},
      {"\n[api]\nbody_byte_max = 1",
       "p.toml:3: there is no setting `api.body_byte_max`; did you "
       "mean `api.body_bytes_max`?"},
      {"[quux]", "p.toml:1: there is no setting `quux`."},
      {"io_threads = \"2\"", "p.toml:1: io_threads must be an integer from 0 to 256."},
      {"io_threads = 2.0", "p.toml:1: io_threads must be an integer from 0 to 256."},
      {"\n\nio_threads = 257", "p.toml:3: io_threads must be an integer from 0 to 256, not 257."},
      {"allow_http = 1", "p.toml:1: allow_http must be true or false."},
      {"api = 3", "p.toml:1: `api` is a section; write its settings under [api]."},
      {"[log]\nlevel = \"loud\"",
       "p.toml:2: log.level must be one of trace, debug, info, warn, error, off, not \"loud\"."},
      {"[webhooks.retry]\npreset = \"x\"",
       "p.toml:2: webhooks.retry.preset must be one of patient, balanced, quick, steep, hourly, "
       "stepped, standard, not \"x\"."},
      {"[webhooks.retry]\nbase_delay_ms = 5000\nmax_delay_ms = 4000",
       "p.toml:3: webhooks.retry.max_delay_ms must be at least webhooks.retry.base_delay_ms."},
      {"[tls]\ncertificate = \"c.pem\"", "p.toml:2: tls.certificate requires tls.key."},
      {"[webhooks.rate_limit]\nrequests_per_second = 1\nrequests_per_minute = 1",
       "p.toml:3: webhooks.rate_limit.requests_per_minute cannot be combined with "
       "webhooks.rate_limit.requests_per_second; set one of them."},
      {"[[event_types]]\nname = \"a b\"",
       "p.toml:1: an event type's name must be 1 to 256 letters, digits, `_`, `-` and single dots, "
       "such as order.created."},
      {"[[event_types]]\nnam = \"a\"",
       "p.toml:2: an event type has only a `name` and a `description`, both strings."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(refusal(sources(c.file)), c.message) << c.file;
  }
  for (const char* text : {"a = ", "[", "[[", "[[[a]]]", "[.a]", "a.[b] = 1", "[a.[b]]"}) {
    EXPECT_TRUE(refusal(sources(text)).starts_with("p.toml:1: invalid TOML: ")) << text;
  }
  EXPECT_TRUE(refusal(sources("allowed_target_cidrs = [\"10.0.0.1/8\"]"))
                  .starts_with("p.toml:1: allowed_target_cidrs must be a list of addresses"));
  Sources from = sources("");
  from.profile = "exchnge";
  EXPECT_EQ(refusal(from),
            "flag --profile: there is no profile `exchnge`; use one of exchange, platform, outbox, "
            "workspace, tenant.");
}

TEST(Load, ErrorsNameVariableAndFlag) {
  EXPECT_EQ(refusal(sources("", {{"POSTRIDER_IO_THREADS", "many"}})),
            "POSTRIDER_IO_THREADS must be an integer from 0 to 256, not `many`.");
  EXPECT_EQ(refusal(sources("", {{"POSTRIDER_IO_THREADS", "999"}})),
            "environment POSTRIDER_IO_THREADS: io_threads must be an integer from 0 to 256, not "
            "999.");
  EXPECT_EQ(refusal(sources("", {{"POSTRIDER_IO_TREADS", "1"}})),
            "POSTRIDER_IO_TREADS is not a setting; did you mean POSTRIDER_IO_THREADS?");
  Sources from = sources("");
  from.overrides = {{"io_treads", "1", "--set"}};
  EXPECT_EQ(refusal(from), "--set: there is no setting `io_treads`; did you mean `io_threads`?");
}

TEST(Load, ReportsUnknownVariables) {
  const Loaded loaded = load_all(sources("", {{"POSTRIDER_PORT_8080_TCP_ADDR", "10.0.0.1"},
                                              {"POSTRIDER_OWN_NOTES", "x"},
                                              {"POSTRIDER_SERVER", "http://x"}}));
  EXPECT_EQ(loaded.unknown_variables,
            (std::vector<std::string>{"POSTRIDER_PORT_8080_TCP_ADDR", "POSTRIDER_OWN_NOTES"}));
}

TEST(Load, VariablesOfOtherCommandsAreNotUnknown) {
  const Loaded loaded = load_all(sources("", {{"POSTRIDER_KEY", "k"},
                                              {"POSTRIDER_BINARY", "/x"},
                                              {"POSTRIDER_TEST_SEED", "7"},
                                              {"POSTRIDER_SECRET", "whsec_x"},
                                              {"POSTRIDER_SERVER", "http://x"},
                                              {"POSTRIDER_PROFILE", "tenant"}}));
  EXPECT_EQ(loaded.unknown_variables, std::vector<std::string>{});
}

TEST(Load, ListsInVariablesAreSeparatedByCommas) {
  const Loaded loaded =
      load_all(sources("", {{"POSTRIDER_ALLOWED_TARGET_CIDRS", "10.0.0.0/8, 192.168.1.1"},
                            {"POSTRIDER_WEBHOOKS_RETRY_SCHEDULE_MS", "1,2,3"},
                            {"POSTRIDER_WEBHOOKS_RETRY_PERMANENT_STATUSES", ""}}));
  ASSERT_EQ(loaded.config.targets.addresses.allowed.size(), 2u);
  EXPECT_EQ(loaded.config.targets.addresses.allowed[1].to_string(), "192.168.1.1/32");
  const RetryPolicy& retry = loaded.config.webhooks.defaults.retry;
  EXPECT_EQ(retry.schedule, (std::vector<Millis>{1ms, 2ms, 3ms}));
  EXPECT_TRUE(retry.permanent_statuses.empty());
}

TEST(Load, APresetResetsItsSectionWhateverItsPositionInTheFile) {
  Sources from = sources("[webhooks.retry]\nmax_attempts = 3\npreset = \"steep\"\n");
  from.profile = "tenant";
  const Loaded loaded = load_all(from);
  RetryPolicy wanted = retry_policy(RetryPreset::steep);
  wanted.attempts_max = 3;
  EXPECT_EQ(loaded.config.webhooks.defaults.retry, wanted);
  EXPECT_EQ(loaded.origin_of("webhooks.retry.max_attempts"), "p.toml:2");
  EXPECT_EQ(loaded.origin_of("webhooks.retry.timeout_ms"), "preset, p.toml:3");
}

TEST(Load, AutoDerivesMaxAttemptsFromTheDelays) {
  const auto attempts = [](const std::string& lines) {
    return load_file("[webhooks.retry]\n" + lines).config.webhooks.defaults.retry.attempts_max;
  };
  EXPECT_EQ(attempts("max_attempts = \"auto\""), 13u);  // 30 s and 24 h.
  EXPECT_EQ(attempts("max_attempts = \"auto\"\nbase_delay_ms = 1000\nmax_delay_ms = 8000"), 4u);
  EXPECT_EQ(attempts("max_attempts = \"auto\"\nbase_delay_ms = 5000\nmax_delay_ms = 5000"), 1u);
  // A preset resets max_attempts, unless the same source sets it again.
  Sources from = sources("[webhooks.retry]\nmax_attempts = \"auto\"",
                         {{"POSTRIDER_WEBHOOKS_RETRY_PRESET", "quick"}});
  EXPECT_EQ(load_all(from).config.webhooks.defaults.retry, retry_policy(RetryPreset::quick));
  from = sources("", {{"POSTRIDER_WEBHOOKS_RETRY_PRESET", "quick"},
                      {"POSTRIDER_WEBHOOKS_RETRY_MAX_ATTEMPTS", "auto"}});
  EXPECT_EQ(load_all(from).config.webhooks.defaults.retry.attempts_max, 5u);  // 2 s and 32 s.
  from.overrides = {{"webhooks.retry.max_attempts", "7", "--set"}};
  EXPECT_EQ(load_all(from).config.webhooks.defaults.retry.attempts_max, 7u);

  const Loaded loaded = load_file("[webhooks.retry]\nmax_attempts = \"auto\"");
  const std::string printed = print_config(loaded);
  EXPECT_NE(printed.find("\nmax_attempts = \"auto\"  # p.toml:2\n"), std::string::npos);
  EXPECT_EQ(load_file(printed).config.webhooks.defaults, loaded.config.webhooks.defaults);
}

TEST(Load, AcceptsNoWordButAutoForMaxAttempts) {
  const std::string rule =
      "webhooks.retry.max_attempts must be an integer from 1 to 100, or "
      "\"auto\"";
  EXPECT_EQ(refusal(sources("[webhooks.retry]\nmax_attempts = \"Auto\"")),
            "p.toml:2: " + rule + ".");
  EXPECT_EQ(refusal(sources("[webhooks.retry]\nmax_attempts = 0")),
            "p.toml:2: " + rule + ", not 0.");
  EXPECT_EQ(refusal(sources("", {{"POSTRIDER_WEBHOOKS_RETRY_MAX_ATTEMPTS", "many"}})),
            "POSTRIDER_WEBHOOKS_RETRY_MAX_ATTEMPTS must be an integer from 1 to 100, or \"auto\","
            " not `many`.");
  EXPECT_NE(refusal(sources("[webhooks.retry]\ntimeout_ms = \"auto\"")), "accepted");
}

TEST(Load, DnsServersAreAddressesWithAnOptionalPort) {
  for (const char* good :
       {"9.9.9.9", "127.0.0.1:5353", "::1", "[::1]", "[::1]:53", "1.1.1.1:1", "1.1.1.1:65535"}) {
    const Loaded loaded = load_file(fmt::format("[dns]\nservers = [\"{}\"]", good));
    EXPECT_EQ(loaded.config.dns_servers, std::vector<std::string>{good});
  }
  for (const char* bad : {"", "dns.example", "1.1.1.1:0", "1.1.1.1:65536", "1.1.1.1:", "[::1",
                          "1.1.1", "[::1]:x", ":53", "1.1.1.1,2.2.2.2"}) {
    EXPECT_TRUE(refusal(sources(fmt::format("[dns]\nservers = [\"{}\"]", bad)))
                    .starts_with("p.toml:2: dns.servers must be a list of at most 8 addresses"))
        << bad;
  }
}

TEST(Load, ARateInAnotherUnitReplacesThatOfAnEarlierSource) {
  Sources from = sources("[webhooks.rate_limit]\nrequests_per_second = 7\n");
  from.profile = "platform";
  EXPECT_EQ(load_all(from).config.webhooks.defaults.rate_limit,
            (RateLimit{.count = 7, .period = 1s, .burst = 20}));
}

TEST(Load, SecretsComeFromTheEnvironmentAndAreNeverPrinted) {
  const Loaded loaded = load_all(sources("", {{"POSTRIDER_ADMIN_KEY", "canary-1-of-16-bytes"},
                                              {"POSTRIDER_SECRETS_KEY", "canary-2"}}));
  EXPECT_EQ(loaded.config.admin_key->reveal(), "canary-1-of-16-bytes");
  EXPECT_EQ(loaded.config.secrets.key->reveal(), "canary-2");
  const std::string printed = print_config(loaded);
  EXPECT_EQ(printed.find("canary"), std::string::npos);
  EXPECT_NE(printed.find("# POSTRIDER_ADMIN_KEY is set and not shown."), std::string::npos);
  for (const std::string& key : {std::string{}, std::string(257, 'k'), std::string{"two words"},
                                 std::string{"tab\t"}, std::string{"caf\xc3\xa9"}}) {
    EXPECT_EQ(refusal(sources("", {{"POSTRIDER_ADMIN_KEY", key}})),
              "POSTRIDER_ADMIN_KEY must be 1 to 256 visible ASCII characters without spaces.");
  }
}

TEST(Print, PrintedConfigurationLoadsAsTheSameConfiguration) {
  for (const std::string_view name : profile_names()) {
    Sources from = sources("user_agent = \"quote \\\" and \\\\ back\"");
    from.profile = name;
    const Loaded loaded = load_all(from);
    const Loaded again = load_file(print_config(loaded));
    for (const Setting& setting : all_settings()) {
      EXPECT_EQ(setting.read(again.config), setting.read(loaded.config)) << name << setting.key;
    }
    EXPECT_EQ(again.config.event_types, loaded.config.event_types);
    EXPECT_EQ(again.config.webhooks.defaults, loaded.config.webhooks.defaults) << name;
  }
}

TEST(Print, EachLineNamesTheOriginOfItsValue) {
  const std::string printed = print_config(load_file("io_threads = 3"));
  EXPECT_NE(printed.find("\nio_threads = 3  # p.toml:1\n"), std::string::npos);
  EXPECT_NE(printed.find("\nlisten = \"127.0.0.1:8080\"  # default\n"), std::string::npos);
  EXPECT_NE(printed.find("\n[webhooks.retry]\npreset = \"patient\"  # default\n"),
            std::string::npos);
}

TEST(Print, AnEventTypeNamesItsOrigin) {
  Sources from = sources("io_threads = 3\n[[event_types]]\nname = \"own.type\"");
  from.profile = "tenant";
  const Loaded loaded = load_all(from);
  const std::string printed = print_config(loaded);
  EXPECT_NE(printed.find("\n[[event_types]]  # profile tenant\n"), std::string::npos);
  EXPECT_NE(printed.find("\n[[event_types]]  # p.toml:2\nname = \"own.type\"\n"),
            std::string::npos);
  EXPECT_NE(print_config_json(loaded).find(
                R"({"name": "own.type", "description": "", "origin": "p.toml:2"})"),
            std::string::npos);
}

TEST(Print, ListsVariablesThatHaveNoEffect) {
  const Loaded loaded = load_all(sources("", {{"POSTRIDER_SOMETHING_ELSE_ENTIRELY", "1"}}));
  EXPECT_NE(print_config(loaded).find(
                "\n# \"POSTRIDER_SOMETHING_ELSE_ENTIRELY\" is not a setting and has no effect.\n"),
            std::string::npos);
  EXPECT_NE(print_config_json(loaded).find(
                R"("unknown_variables": ["POSTRIDER_SOMETHING_ELSE_ENTIRELY"])"),
            std::string::npos);
}

TEST(Load, AnUnknownProfileIsReportedWithItsOrigin) {
  const std::string_view rest = "there is no profile `nope`; use one of exchange, ";
  const std::string file = refusal(sources("io_threads = 3\nprofile = \"nope\""));
  EXPECT_TRUE(file.starts_with(fmt::format("p.toml:2: {}", rest))) << file;
  const std::string variable = refusal(sources("", {{"POSTRIDER_PROFILE", "nope"}}));
  EXPECT_TRUE(variable.starts_with(fmt::format("environment POSTRIDER_PROFILE: {}", rest)));
}

TEST(Print, JsonHasValueAndOriginOfEachSetting) {
  Sources from = sources("io_threads = 3", {{"POSTRIDER_ADMIN_KEY", "canary-of-16-bytes"}});
  from.profile = "tenant";
  const Loaded loaded = load_all(from);
  const std::string printed = print_config_json(loaded);
  ASSERT_TRUE(check_json(printed).has_value()) << printed;
  EXPECT_NE(printed.find(R"("io_threads": {"value": 3, "origin": "p.toml:1"})"), std::string::npos);
  EXPECT_NE(printed.find(R"("listen": {"value": "127.0.0.1:8080", "origin": "default"})"),
            std::string::npos);
  EXPECT_NE(printed.find(R"("POSTRIDER_ADMIN_KEY": "set, not shown")"), std::string::npos);
  EXPECT_EQ(printed.find("canary"), std::string::npos);
  for (const Setting& setting : all_settings()) {
    EXPECT_NE(printed.find("\n    \"" + setting.key + "\": {"), std::string::npos) << setting.key;
  }
}

TEST(Reference, DocsAreUpToDate) {
  std::ifstream file{POSTRIDER_SOURCE_DIR "/docs/configuration.md"};
  const std::string written{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(written, print_reference())
      << "docs/configuration.md is out of date; run `postrider serve --print-reference > "
         "docs/configuration.md`";
}

TEST(Profiles, UseTheirPresets) {
  const auto webhook = [](const std::string& name) {
    return load_file("profile = \"" + name + "\"").config.webhooks.defaults;
  };
  EXPECT_EQ(webhook("exchange").retry, retry_policy(RetryPreset::patient));
  EXPECT_EQ(webhook("exchange").breaker, breaker_policy(BreakerPreset::patient));
  EXPECT_EQ(webhook("platform").retry, retry_policy(RetryPreset::balanced));
  EXPECT_EQ(webhook("workspace").breaker, breaker_policy(BreakerPreset::sensitive));
  RetryPolicy hourly = retry_policy(RetryPreset::hourly);
  hourly.permanent_statuses.clear();
  hourly.category_minimums = false;
  hourly.honor_retry_after = false;
  hourly.ssl_attempts_max = 5;
  EXPECT_EQ(webhook("tenant").retry, hourly);
  EXPECT_FALSE(webhook("outbox").breaker.enabled);
}

TEST(Checks, ALongerSleepRaisesTheLongestUnlessThatIsSet) {
  const std::string sleep = "[webhooks.circuit_breaker]\nsleep_window_ms = 7_200_000\n";
  const auto longest = [](const Loaded& loaded) {
    return loaded.config.webhooks.defaults.breaker.sleep_max.count();
  };
  const Loaded raised = load_file(sleep);
  EXPECT_EQ(longest(raised), 7'200'000);
  EXPECT_EQ(raised.origin_of("webhooks.circuit_breaker.sleep_max_ms"),
            raised.origin_of("webhooks.circuit_breaker.sleep_window_ms"));
  EXPECT_EQ(longest(load_file("profile = \"platform\"\n" + sleep)), 7'200'000);
  EXPECT_EQ(longest(load_file(sleep + "preset = \"sensitive\"\n")), 7'200'000);
  EXPECT_EQ(longest(load_file(sleep + "sleep_max_ms = 9_000_000\n")), 9'000'000);
}

TEST(Reload, KeepsAndListsSettingsThatNeedARestart) {
  const Loaded running = load_file("io_threads = 1\ndata = \"a\"\n[log]\nlevel = \"info\"");
  const Loaded wanted = load_file(
      "\nio_threads = 2\ndata = \"a\"\n[log]\nlevel = \"debug\"\n"
      "[webhooks.retry]\npreset = \"quick\"\n[[event_types]]\n"
      "name = \"a.b\"");
  const Changes changes = compare(running.config, wanted.config);
  EXPECT_EQ(changes.at_restart, (std::vector<std::string>{"io_threads", "event_types"}));
  EXPECT_EQ(changes.now.front(), "log.level");
  const Loaded reloaded = merge_reload(running, wanted);
  EXPECT_EQ(reloaded.origin_of("io_threads"), running.origin_of("io_threads"));
  EXPECT_EQ(reloaded.origin_of("log.level"), wanted.origin_of("log.level"));
  EXPECT_NE(running.origin_of("log.level"), wanted.origin_of("log.level"));
  EXPECT_EQ(reloaded.origin_of("listen"), "default");
  const Config& merged = reloaded.config;
  EXPECT_EQ(merged.io_threads, 1u);
  EXPECT_EQ(merged.log_level, "debug");
  EXPECT_EQ(merged.webhooks.defaults.retry, retry_policy(RetryPreset::quick));
  EXPECT_TRUE(merged.event_types.empty());
}

TEST(Portal, FramesAreAllowedByName) {
  EXPECT_EQ(load_file("").config.portal.frame_ancestors, Texts{"none"});
  const Texts both = {"self", "https://app.example.com"};
  EXPECT_EQ(load_file("[portal]\nframe_ancestors = [\"'self'\", \"https://app.example.com\"]")
                .config.portal.frame_ancestors,
            both);
  EXPECT_NE(refusal(sources("[portal]\nframe_ancestors = [\"http://example.com\"]"))
                .find("portal.frame_ancestors must be none, or a list"),
            std::string::npos);
}

TEST(Cluster, HasADefaultLeaseAndPool) {
  const Config config = load_file("store = \"postgres://localhost/p\"").config;
  EXPECT_EQ(config.cluster.lease, Millis{15'000});
  EXPECT_EQ(config.cluster.pool, "");
  EXPECT_EQ(config.cluster.address, "");
}

TEST(Cluster, IsSetBesideTheStore) {
  const Config config = load_file(
                            "store = \"postgres://localhost/p\"\n[cluster]\nlease_ms = 2000\n"
                            "pool = \"eu-1\"\naddress = \"hooks-1:8080\"")
                            .config;
  EXPECT_EQ(config.cluster.lease, Millis{2'000});
  EXPECT_EQ(config.cluster.pool, "eu-1");
  EXPECT_EQ(config.cluster.address, "hooks-1:8080");
}

TEST(Cluster, RequiresAStore) {
  const std::string reason =
      " requires store: only servers that share a PostgreSQL database form a cluster.";
  EXPECT_EQ(refusal(sources("[cluster]\nlease_ms = 5000")), "p.toml:2: cluster.lease_ms" + reason);
  EXPECT_EQ(refusal(sources("[cluster]\npool = \"a\"")), "p.toml:2: cluster.pool" + reason);
  EXPECT_EQ(refusal(sources("[cluster]\naddress = \"a\"")), "p.toml:2: cluster.address" + reason);
}

TEST(Cluster, RefusesValuesThatCannotWork) {
  const auto refused = [](const std::string& line) {
    return refusal(sources("store = \"postgres://localhost/p\"\n[cluster]\n" + line));
  };
  EXPECT_NE(refused("lease_ms = 1999").find("from 2000 to 300000"), std::string::npos);
  EXPECT_NE(refused("lease_ms = 300001").find("from 2000 to 300000"), std::string::npos);
  for (const std::string& pool :
       {std::string{"a b"}, std::string{"default"}, std::string{".."}, std::string(65, 'a')}) {
    EXPECT_NE(refused("pool = \"" + pool + "\"").find("cluster.pool must be empty or at most 64"),
              std::string::npos)
        << pool;
  }
  EXPECT_NE(refused("address = \"" + std::string(257, 'a') + "\"").find("at most 256"),
            std::string::npos);
}

TEST(Reload, RetentionAlertsAndLogChangeImmediately) {
  const Config wanted = load_file(
                            "[retention]\nevents_days = 1\narchive_directory = \"a\"\n"
                            "shrinking_store = false\n[alerts]\nqueue_depth = 1\n"
                            "[log]\nformat = \"json\"\n[webhooks]\nrequire_verification = true")
                            .config;
  const Changes changes = compare(Config{}, wanted);
  EXPECT_EQ(changes.now, (std::vector<std::string>{
                             "log.format", "webhooks.require_verification", "retention.events_days",
                             "retention.archive_directory", "alerts.queue_depth"}));
  EXPECT_EQ(changes.at_restart, (std::vector<std::string>{"retention.shrinking_store"}));
}

}  // namespace
}  // namespace postrider::config
