#include "cli/commands/arguments.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postrider::cli {
namespace {

using namespace std::chrono_literals;

Command parse(const std::vector<std::string>& arguments,
              const std::map<std::string, std::string>& variables = {}) {
  return parse_arguments(arguments, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  });
}

template <class Options>
Options parse_as(const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& variables = {}) {
  const Command command = parse(arguments, variables);
  const Options* options = std::get_if<Options>(&command);
  const UsageError* error = std::get_if<UsageError>(&command);
  EXPECT_NE(options, nullptr) << (error != nullptr ? error->message : "another command");
  return options != nullptr ? *options : Options{};
}

UsageError error_of(const std::vector<std::string>& arguments,
                    const std::map<std::string, std::string>& variables = {}) {
  return parse_as<UsageError>(arguments, variables);
}

TEST(ServeArguments, AreOptional) {
  const auto options = parse_as<ServeOptions>({"serve"});
  EXPECT_EQ(options.config_file, "");
  EXPECT_EQ(options.profile, "");
  EXPECT_TRUE(options.overrides.empty());
  EXPECT_FALSE(options.print_config);
  EXPECT_FALSE(options.json);
}

TEST(ServeArguments, FlagsBecomeSettings) {
  const auto options = parse_as<ServeOptions>({"serve",
                                               "--config",
                                               "/etc/p.toml",
                                               "--profile",
                                               "tenant",
                                               "--data",
                                               "/d",
                                               "--listen=[::1]:0",
                                               "--allow-private-targets",
                                               "--allow-http",
                                               "--io-threads",
                                               "3",
                                               "--drain-timeout",
                                               "5",
                                               "--log-level",
                                               "debug",
                                               "--set",
                                               "api.body_bytes_max=2048",
                                               "--set",
                                               "user_agent=a=b",
                                               "--print-config",
                                               "--json"});
  EXPECT_EQ(options.config_file, "/etc/p.toml");
  EXPECT_EQ(options.profile, "tenant");
  EXPECT_TRUE(options.print_config);
  EXPECT_TRUE(options.json);
  std::map<std::string, std::string> values;
  std::map<std::string, std::string> names;
  for (const config::Override& override : options.overrides) {
    values[override.key] = override.value;
    names[override.key] = override.flag;
  }
  const std::map<std::string, std::string> wanted = {
      {"data", "/d"},
      {"listen", "[::1]:0"},
      {"allow_private_targets", "true"},
      {"allow_http", "true"},
      {"io_threads", "3"},
      {"drain_timeout_ms", "5000"},
      {"log.level", "debug"},
      {"api.body_bytes_max", "2048"},
      {"user_agent", "a=b"},
  };
  EXPECT_EQ(values, wanted);
  EXPECT_EQ(names["listen"], "--listen");
  EXPECT_EQ(names["drain_timeout_ms"], "--drain-timeout");
  EXPECT_EQ(names["user_agent"], "--set");
}

TEST(ServeArguments, InvalidValuesAreUsageErrors) {
  struct Case {
    std::vector<std::string> arguments;
    std::string message;
  };
  const Case cases[] = {
      {{"serve", "--drain-timeout", "soon"}, "--drain-timeout: Value soon not in range 0 to 3600."},
      {{"serve", "--data"}, "--data needs a value."},
      {{"serve", "--set", "listen"}, "--set requires KEY=VALUE, not `listen`."},
      {{"serve", "extra"}, "`extra` is not expected here."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(error_of(c.arguments).message, c.message);
  }
}

TEST(ListenArguments, AcceptEveryFlag) {
  const auto options = parse_as<ListenOptions>({"listen",
                                                "--port",
                                                "0",
                                                "--secret",
                                                "whsec_plJ3nmyCDGBKInavdOK15jsl",
                                                "--secret",
                                                "a secret of my own, 24 b.",
                                                "--tolerance",
                                                "60",
                                                "--path",
                                                "/x",
                                                "--path",
                                                "/y",
                                                "--status",
                                                "204",
                                                "--delay",
                                                "250",
                                                "--fail-rate",
                                                "0.25",
                                                "--count",
                                                "3",
                                                "--json"});
  EXPECT_EQ(options.listen_address, "127.0.0.1:0");
  ASSERT_EQ(options.secrets.size(), 2u);
  EXPECT_EQ(options.secrets[0].reveal(), "whsec_plJ3nmyCDGBKInavdOK15jsl");
  EXPECT_EQ(options.secrets[1].reveal(), "a secret of my own, 24 b.");
  EXPECT_EQ(options.tolerance, 60s);
  EXPECT_EQ(options.paths, (std::vector<std::string>{"/x", "/y"}));
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.delay, 250ms);
  EXPECT_EQ(options.fail_rate, 0.25);
  EXPECT_EQ(options.count, 3u);
  EXPECT_TRUE(options.json);
}

TEST(ListenArguments, ReadTheSecretFromTheEnvironment) {
  const std::map<std::string, std::string> variables = {
      {"POSTRIDER_SECRET", "another secret of my own."}};
  EXPECT_EQ(parse_as<ListenOptions>({"listen"}, variables).secrets.size(), 1u);
  EXPECT_TRUE(parse_as<ListenOptions>({"listen"}).secrets.empty());
}

TEST(ListenArguments, RefuseInvalidValues) {
  EXPECT_EQ(error_of({"listen", "--port", "65536"}).message,
            "--port: Value 65536 not in range 0 to 65535.");
  EXPECT_EQ(error_of({"listen", "--status", "199"}).message,
            "--status: Value 199 not in range 200 to 599.");
  EXPECT_EQ(error_of({"listen", "--fail-rate", "1.5"}).message,
            "--fail-rate: Value 1.5 not in range 0.000000 to 1.000000.");
  EXPECT_EQ(error_of({"listen", "--path", "x"}).message,
            "--path must start with a slash, not `x`.");
  error_of({"listen", "--port", "1", "--listen", "127.0.0.1:2"});
  EXPECT_EQ(error_of({"listen", "--secret", ""}).message, "--secret must not be empty.");
}

TEST(SendArguments, ReadServerAndKeyFromTheEnvironment) {
  const std::vector<std::string> send = {"send", "--type", "order.paid"};
  const auto plain = parse_as<SendOptions>(send);
  EXPECT_EQ(plain.connection.server.authority(), "127.0.0.1:8080");
  EXPECT_FALSE(plain.connection.server.tls);
  EXPECT_EQ(plain.connection.key.reveal(), "");
  EXPECT_EQ(plain.data, "{}");

  const auto admin = parse_as<SendOptions>(send, {{"POSTRIDER_ADMIN_KEY", "admin"}});
  EXPECT_EQ(admin.connection.key.reveal(), "admin");
  const auto both =
      parse_as<SendOptions>(send, {{"POSTRIDER_ADMIN_KEY", "admin"},
                                   {"POSTRIDER_KEY", "publish"},
                                   {"POSTRIDER_SERVER", "https://hooks.example.com"}});
  EXPECT_EQ(both.connection.key.reveal(), "publish");
  EXPECT_EQ(both.connection.server.authority(), "hooks.example.com");
  EXPECT_TRUE(both.connection.server.tls);

  std::vector<std::string> flags = send;
  flags.insert(flags.end(), {"--key", "flag", "--server", "http://localhost:9"});
  const auto flagged = parse_as<SendOptions>(flags, {{"POSTRIDER_KEY", "publish"}});
  EXPECT_EQ(flagged.connection.key.reveal(), "flag");
  EXPECT_EQ(flagged.connection.server.host, "localhost");
}

TEST(ServerArguments, PlainHttpToAnotherMachineNeedsInsecure) {
  for (const char* here :
       {"http://127.0.0.1:1", "http://127.8.9.1", "http://LOCALHOST", "http://localhost.:8080",
        "http://[::1]:9", "http://[::ffff:127.0.0.1]", "https://hooks.example.com"}) {
    parse_as<SendOptions>({"send", "--type", "t", "--server", here});
  }
  for (const char* away :
       {"http://hooks.example.com", "http://10.0.0.1:8080", "http://localhost.example.com",
        "http://127.0.0.1.example.com", "http://a.localhost", "http://[fe80::1]",
        "http://[::ffff:10.0.0.1]", "http://[::2]"}) {
    EXPECT_THAT(error_of({"send", "--type", "t", "--server", away}).message,
                testing::HasSubstr("--insecure"))
        << away;
    parse_as<SendOptions>({"send", "--type", "t", "--server", away, "--insecure"});
  }
  // Never sent anywhere, whatever the flags.
  for (const char* odd :
       {"http://localhost@evil.example", "http://2130706433", "http://0x7f.1", "http://127.1",
        "http://127.0.0.1\\@evil.example", "http://127.0.0.1#@evil.example"}) {
    EXPECT_THAT(error_of({"send", "--type", "t", "--server", odd, "--insecure"}).message,
                testing::HasSubstr("Invalid server URL"))
        << odd;
  }
}

TEST(ServerArguments, TheOldVariableIsRefusedNotIgnored) {
  const Command command = parse_arguments({"send", "--type", "t"}, [](const std::string& name) {
    return name == "POSTRIDER_URL" ? std::optional<std::string>{"http://localhost:1"}
                                   : std::nullopt;
  });
  ASSERT_TRUE(std::holds_alternative<UsageError>(command));
  EXPECT_THAT(std::get<UsageError>(command).message, testing::HasSubstr("POSTRIDER_SERVER"));
  parse_as<SendOptions>({"send", "--type", "t"}, {{"POSTRIDER_URL", "http://localhost:1"},
                                                  {"POSTRIDER_SERVER", "http://localhost:2"}});
}

TEST(ServerArguments, UrlIsNoOptionOfACommandWithoutAWebhook) {
  const UsageError error = error_of({"send", "--type", "t", "--url", "http://localhost:9"});
  EXPECT_EQ(error.message, "`--url` is not an option of `send`.");
  EXPECT_THAT(error.hint, testing::HasSubstr("--server"));
}

TEST(SendArguments, AcceptEveryFieldOfAnEvent) {
  const auto options = parse_as<SendOptions>({"send",
                                              "--type",
                                              "t",
                                              "--data",
                                              "-",
                                              "--tenant",
                                              "a",
                                              "--resource",
                                              "b",
                                              "--idempotency-key",
                                              "c",
                                              "--source",
                                              "d",
                                              "--ordering-key",
                                              "e",
                                              "--priority",
                                              "high",
                                              "--timestamp",
                                              "2026-01-01T00:00:00Z",
                                              "--timeout",
                                              "5",
                                              "--json"});
  EXPECT_EQ(options.data, "-");
  EXPECT_EQ(options.tenant_id, "a");
  EXPECT_EQ(options.resource_id, "b");
  EXPECT_EQ(options.idempotency_key, "c");
  EXPECT_EQ(options.source, "d");
  EXPECT_EQ(options.ordering_key, "e");
  EXPECT_EQ(options.priority, "high");
  EXPECT_EQ(options.timestamp, "2026-01-01T00:00:00Z");
  EXPECT_EQ(options.connection.timeout, 5s);
  EXPECT_TRUE(options.connection.json);
}

TEST(SendArguments, RefuseInvalidValues) {
  EXPECT_EQ(error_of({"send"}).message, "--type is required.");
  EXPECT_TRUE(error_of({"send", "--type", "t", "--server", "ftp://x"})
                  .message.starts_with("Invalid server URL: "));
  error_of({"send", "--type", "t", "--priority", "urgent"});
  error_of({"send", "--type", "t", "--timeout", "0"});
}

TEST(Arguments, SuggestTheClosestName) {
  EXPECT_EQ(error_of({"serv"}).message, "`serv` is not a command.");
  EXPECT_EQ(error_of({"serv"}).hint, "Did you mean `serve`?");
  EXPECT_EQ(error_of({"lisetn"}).hint, "Did you mean `listen`?");
  EXPECT_EQ(error_of({"serve", "--lisen", "1:2"}).message,
            "`--lisen` is not an option of `serve`.");
  EXPECT_EQ(error_of({"serve", "--lisen=1:2"}).hint, "Did you mean `--listen`?");
  EXPECT_EQ(error_of({"serve", "--zzz"}).hint, "See `postrider serve --help`.");
  EXPECT_EQ(error_of({}).hint, "See `postrider --help`.");
  EXPECT_EQ(error_of({}).message, "No command given.");
}

TEST(Arguments, HelpNamesEveryFlagAndShowsExamples) {
  const std::string root = parse_as<HelpText>({"--help"}).text;
  for (const char* word : {"serve", "listen", "send", "version", "Examples:", "Exit codes:"}) {
    EXPECT_NE(root.find(word), std::string::npos) << word;
  }
  for (const char* command : {"serve", "listen", "send"}) {
    const std::string text = parse_as<HelpText>({command, "--help"}).text;
    EXPECT_NE(text.find("--json"), std::string::npos) << command;
    EXPECT_NE(text.find("Examples:"), std::string::npos) << command;
    EXPECT_NE(text.find("Environment:"), std::string::npos) << command;
  }
}

TEST(Arguments, SuggestInsideAGroup) {
  EXPECT_EQ(error_of({"webhooks"}).message.substr(0, 39),
            "`webhooks` requires a subcommand: list,");
  EXPECT_EQ(error_of({"webhooks"}).hint, "See `postrider webhooks --help`.");
  EXPECT_EQ(error_of({"webhooks", "lst"}).message, "`lst` is not a command of `webhooks`.");
  EXPECT_EQ(error_of({"webhooks", "lst"}).hint, "Did you mean `list`?");
  EXPECT_EQ(error_of({"webhooks", "list", "--limt", "3"}).message,
            "`--limt` is not an option of `webhooks list`.");
  EXPECT_EQ(error_of({"webhooks", "list", "--limt", "3"}).hint, "Did you mean `--limit`?");
  EXPECT_EQ(error_of({"webhooks", "get"}).hint, "See `postrider webhooks get --help`.");
  EXPECT_EQ(error_of({"webhooks", "list", "--limit", "251"}).message,
            "--limit: Value 251 not in range 1 to 250.");
}

TEST(Arguments, VersionIsACommandAndAFlag) {
  EXPECT_FALSE(parse_as<VersionOptions>({"--version"}).json);
  EXPECT_FALSE(parse_as<VersionOptions>({"version"}).json);
  EXPECT_TRUE(parse_as<VersionOptions>({"version", "--json"}).json);
}

TEST(CopyArguments, NameTheStoresAndTheKeyAsSettings) {
  const auto options =
      parse_as<CopyStoreOptions>({"copy", "--from", "sqlite:/d", "--to=postgres://u@h/n",
                                  "--secrets-key-file", "/k", "--verify-only", "--json"});
  std::map<std::string, std::string> settings;
  for (const config::Override& each : options.overrides) {
    settings[each.key] = each.value;
  }
  EXPECT_EQ(settings,
            (std::map<std::string, std::string>{
                {"data", "/d"}, {"store", "postgres://u@h/n"}, {"secrets.key_file", "/k"}}));
  EXPECT_TRUE(options.verify_only && options.json);
  EXPECT_TRUE(parse_as<CopyStoreOptions>({"copy"}).overrides.empty());
}

TEST(CopyArguments, RefuseAStoreOfAnotherKind) {
  EXPECT_THAT(error_of({"copy", "--from", "/d"}).message, testing::HasSubstr("sqlite:DIR"));
  EXPECT_THAT(error_of({"copy", "--from", "sqlite:"}).message, testing::HasSubstr("sqlite:DIR"));
  EXPECT_THAT(error_of({"copy", "--to", ""}).message, testing::HasSubstr("--to"));
}

}  // namespace
}  // namespace postrider::cli
