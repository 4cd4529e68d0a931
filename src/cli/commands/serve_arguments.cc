#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/commands/subcommand.h"

namespace postrider::cli {
namespace {

constexpr std::uint32_t drain_seconds_max = 3600;

constexpr const char* examples = R"(Examples:
  postrider serve
      Stores in ./postrider-data, listens on 127.0.0.1:8080, prints a first admin key.
  postrider serve --data /var/lib/postrider --listen 0.0.0.0:8080
  postrider serve --config /etc/postrider.toml --profile exchange --print-config
      Shows what would be in force, and where each value comes from.
  postrider serve --allow-private-targets --allow-http
      For development: webhooks may point at this machine, without TLS.

Environment:
  POSTRIDER_ADMIN_KEY    the admin key to accept, instead of a new one that is printed once; at
                         best 16 visible ASCII characters or more
  POSTRIDER_SECRETS_KEY  the key that stored secrets are sealed with, as in the key file
  POSTRIDER_CONFIG, POSTRIDER_PROFILE, and one variable for every setting: POSTRIDER_LISTEN …)";

struct Flag {
  const char* name;
  const char* key;
  const char* text;
  const char* help;
};

// The settings with a flag of their own; the others have --set.
constexpr Flag flags[] = {
    {"--data", "data", "DIR", "Where the embedded store lives (./postrider-data)"},
    {"--listen", "listen", "ADDR:PORT", "Where the API and the dashboard answer (127.0.0.1:8080)"},
    {"--io-threads", "io_threads", "N",
     "Threads for network work; 0: one less than there are cores"},
    {"--retention-events-days", "retention.events_days", "DAYS",
     "How long events, deliveries and attempts are kept; 0: for good (90)"},
    {"--retention-dead-letters-days", "retention.dead_letters_days", "DAYS",
     "How long dead letters are kept; 0: for good (30)"},
    {"--archive", "retention.archive_directory", "DIR",
     "Where what is too old is archived before it is removed"},
    {"--secrets-key-file", "secrets.key_file", "FILE",
     "Seal stored secrets with the key in this file: 32 bytes in base64 or hex; further lines are "
     "older keys that only open"},
    {"--log-level", "log.level", "LEVEL",
     "Least important lines to log: trace, debug, info, warn, error, off (info)"},
};
constexpr Flag switches[] = {
    {"--allow-private-targets", "allow_private_targets", "",
     "Webhooks may point at private and loopback addresses (development)"},
    {"--allow-http", "allow_http", "", "Webhooks may use http:// (no TLS)"},
};

class ServeArguments final : public Subcommand {
 public:
  explicit ServeArguments(Syntax syntax) {
    syntax.footer(examples);
    syntax.option("--config FILE", options_.config_file, "A TOML file with settings");
    syntax.option("--profile NAME", options_.profile,
                  "A set of defaults: exchange, platform, outbox, workspace, tenant");
    for (const Flag& flag : flags) {
      syntax.option(fmt::format("{} {}", flag.name, flag.text), values_[flag.key], flag.help);
    }
    for (const Flag& flag : switches) {
      syntax.flag(flag.name, switches_[flag.key], flag.help);
    }
    syntax
        .option("--drain-timeout SECONDS", drain_seconds_,
                "How long a stopping server waits for what is under way (30)")
        .at_most(drain_seconds_max);
    syntax.option("--set KEY=VALUE", settings_, "Any setting; see docs/configuration.md");
    syntax.flag("--print-config", options_.print_config,
                "Print the configuration in force with origins, as TOML or JSON, and exit");
    syntax.flag("--print-reference", options_.print_reference,
                "Print the reference of all settings as Markdown, and exit");
    // For tests.
    syntax.option("--retention-events-ms", events_ms_, "").hidden();
    syntax.option("--retention-dead-letters-ms", dead_letters_ms_, "").hidden();
    syntax.option("--retention-operations-ms", operations_ms_, "").hidden();
    syntax.flag("--json", options_.json, "Print JSON instead of sentences");
  }

  Result<Command> finish(const Environment& /*environment*/) override {
    for (const std::string& setting : settings_) {
      const std::size_t equals = setting.find('=');
      if (equals == std::string::npos) {
        return fail(Errc::invalid, fmt::format("--set takes KEY=VALUE, not `{}`.", setting));
      }
      options_.overrides.push_back(
          {.key = setting.substr(0, equals), .value = setting.substr(equals + 1), .flag = "--set"});
    }
    for (const Flag& flag : flags) {
      if (const std::optional<std::string>& value = values_[flag.key]) {
        options_.overrides.push_back({.key = flag.key, .value = *value, .flag = flag.name});
      }
    }
    for (const Flag& flag : switches) {
      if (switches_[flag.key]) {
        options_.overrides.push_back({.key = flag.key, .value = "true", .flag = flag.name});
      }
    }
    if (drain_seconds_) {
      options_.overrides.push_back({.key = "drain_timeout_ms",
                                    .value = fmt::format("{}", *drain_seconds_ * 1000),
                                    .flag = "--drain-timeout"});
    }
    options_.retention_events = std::chrono::milliseconds{events_ms_};
    options_.retention_dead_letters = std::chrono::milliseconds{dead_letters_ms_};
    options_.retention_operations = std::chrono::milliseconds{operations_ms_};
    return Command{options_};
  }

 private:
  ServeOptions options_;
  std::map<std::string, std::optional<std::string>> values_;  // By key; the parse holds references.
  std::map<std::string, bool> switches_;
  std::vector<std::string> settings_;
  std::optional<std::uint32_t> drain_seconds_;
  std::uint32_t events_ms_ = 0;
  std::uint32_t dead_letters_ms_ = 0;
  std::uint32_t operations_ms_ = 0;
};

}  // namespace

std::unique_ptr<Subcommand> add_serve(Syntax root) {
  return std::make_unique<ServeArguments>(
      root.command("serve", "Run the server until it is told to stop"));
}

}  // namespace postrider::cli
