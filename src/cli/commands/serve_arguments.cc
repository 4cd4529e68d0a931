// The flags of `postrider serve`.
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
      Stores data in ./postrider-data, listens on 127.0.0.1:8080 and, at the first start,
      prints an admin key and a link that signs a browser in once.
  postrider serve --data /var/lib/postrider --listen 0.0.0.0:8080
  postrider serve --config /etc/postrider.toml --profile exchange --print-config
      Prints the effective configuration with the origin of each value.
  postrider serve --allow-private-targets --allow-http
      For development: allows webhooks to this machine, without TLS.

Environment:
  POSTRIDER_ADMIN_KEY    the admin key, instead of a new one that is printed once; use at
                         least 16 visible ASCII characters
  POSTRIDER_SECRETS_KEY  the key that encrypts stored secrets, in the format of the key file
  POSTRIDER_CONFIG, POSTRIDER_PROFILE, and a variable for each setting, such as POSTRIDER_LISTEN)";

struct Flag {
  const char* name;
  const char* key;
  const char* text;
  const char* help;
};

// The settings that have a flag; all others need --set.
constexpr Flag flags[] = {
    {"--data", "data", "DIR", "Data directory (default ./postrider-data)"},
    {"--store", "store", "ADDRESS",
     "PostgreSQL database, postgres://user@host/name, in place of the data directory"},
    {"--pool", "cluster.pool", "NAME",
     "Worker pool of this server among those on the database (default: the default pool)"},
    {"--listen", "listen", "ADDR:PORT",
     "Address of the API and the dashboard (default 127.0.0.1:8080)"},
    {"--io-threads", "io_threads", "N",
     "Number of io threads; 0: number of cores minus one (default 0)"},
    {"--retention-events-days", "retention.events_days", "DAYS",
     "Days to keep events, deliveries and attempts; 0: forever (default 90)"},
    {"--retention-dead-letters-days", "retention.dead_letters_days", "DAYS",
     "Days to keep dead letters; 0: forever (default 30)"},
    {"--archive", "retention.archive_directory", "DIR",
     "Directory in which expired data is archived before it is deleted"},
    {"--secrets-key-file", "secrets.key_file", "FILE",
     "Encrypt stored secrets with the key in this file: 32 bytes in base64 or hex. Further lines "
     "are older keys, used only to decrypt"},
    {"--log-level", "log.level", "LEVEL",
     "Lowest level to log: trace, debug, info, warn, error, off (default info)"},
};
constexpr Flag switches[] = {
    {"--allow-private-targets", "allow_private_targets", "",
     "Allow webhooks to private and loopback addresses (development)"},
    {"--allow-http", "allow_http", "", "Allow webhook URLs with http:// (no TLS)"},
};

class ServeArguments final : public Subcommand {
 public:
  explicit ServeArguments(Syntax syntax) {
    syntax.footer(examples);
    syntax.option("--config FILE", options_.config_file, "TOML file with settings");
    syntax.option("--profile NAME", options_.profile,
                  "Set of defaults: exchange, platform, outbox, workspace, tenant");
    for (const Flag& flag : flags) {
      syntax.option(fmt::format("{} {}", flag.name, flag.text), values_[flag.key], flag.help);
    }
    for (const Flag& flag : switches) {
      syntax.flag(flag.name, switches_[flag.key], flag.help);
    }
    syntax
        .option(
            "--drain-timeout SECONDS", drain_seconds_,
            "Longest time a stopping server waits for running requests and attempts (default 30)")
        .at_most(drain_seconds_max);
    syntax.option("--set KEY=VALUE", settings_,
                  "Set any setting; see docs/configuration.md. May be repeated");
    syntax.flag("--accept-data-loss", options_.accept_data_loss,
                "Start although the store lost its newest transactions, with what is left; use it "
                "once, after the server refused to start");
    syntax.flag("--print-config", options_.print_config,
                "Print the effective configuration with origins, as TOML or JSON, and exit");
    syntax.flag("--print-reference", options_.print_reference,
                "Print the reference of all settings as Markdown, and exit");
    // For tests.
    syntax.option("--retention-events-ms", events_ms_, "").hidden();
    syntax.option("--retention-dead-letters-ms", dead_letters_ms_, "").hidden();
    syntax.option("--retention-operations-ms", operations_ms_, "").hidden();
    syntax.flag("--json", options_.json, "Print JSON instead of text");
  }

  Result<Command> finish(const Environment& /*environment*/) override {
    for (const std::string& setting : settings_) {
      const std::size_t equals = setting.find('=');
      if (equals == std::string::npos) {
        return fail(Errc::invalid, fmt::format("--set requires KEY=VALUE, not `{}`.", setting));
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
  std::map<std::string, std::optional<std::string>> values_;  // By key. The parse writes into them.
  std::map<std::string, bool> switches_;
  std::vector<std::string> settings_;
  std::optional<std::uint32_t> drain_seconds_;
  std::uint32_t events_ms_ = 0;
  std::uint32_t dead_letters_ms_ = 0;
  std::uint32_t operations_ms_ = 0;
};

}  // namespace

std::unique_ptr<Subcommand> add_serve(Syntax root) {
  return std::make_unique<ServeArguments>(root.command("serve", "Run the server"));
}

}  // namespace postrider::cli
