#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include "api/listen_address.h"
#include "cli/subcommand.h"

namespace postrider::cli {
namespace {

constexpr std::uint32_t io_threads_max = 256;
constexpr std::uint32_t drain_seconds_max = 3600;

constexpr const char* examples = R"(Examples:
  postrider serve
      Stores in ./postrider-data, listens on 127.0.0.1:8080, prints a first admin key.
  postrider serve --data /var/lib/postrider --listen 0.0.0.0:8080
  postrider serve --allow-private-targets --allow-http
      For development: webhooks may point at this machine, without TLS.

Environment:
  POSTRIDER_ADMIN_KEY    the admin key to accept, instead of a new one that is printed once
  POSTRIDER_SECRETS_KEY  the key that stored secrets are sealed with, as in the key file)";

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= 256 &&
         std::ranges::all_of(text, [](char c) { return 0x21 <= c && c <= 0x7e; });
}

class ServeArguments final : public Subcommand {
 public:
  explicit ServeArguments(CLI::App& app) {
    app.footer(examples);
    app.add_option("--data", options_.data_directory, "Where the embedded store lives")
        ->option_text("DIR")
        ->capture_default_str();
    app.add_option("--listen", options_.listen_address, "Where the API and the dashboard answer")
        ->option_text("ADDR:PORT")
        ->capture_default_str();
    app.add_flag("--allow-private-targets", options_.allow_private_targets,
                 "Webhooks may point at private and loopback addresses (development)");
    app.add_flag("--allow-http", options_.allow_http, "Webhooks may use http:// (no TLS)");
    app.add_option("--io-threads", options_.io_threads,
                   "Threads for network work; 0: one less than there are cores")
        ->option_text("N")
        ->check(CLI::Range(io_threads_max))
        ->capture_default_str();
    app.add_option("--drain-timeout", drain_seconds_,
                   "How long a stopping server waits for what is under way")
        ->option_text("SECONDS")
        ->check(CLI::Range(drain_seconds_max))
        ->capture_default_str();
    app.add_option("--log-level", options_.log_level, "Least important lines to log")
        ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
        ->option_text("LEVEL")
        ->capture_default_str();
    app.add_option("--secrets-key-file", options_.secrets_key_file,
                   "Seal stored secrets with the key in this file: 32 bytes in base64 or hex; "
                   "further lines are older keys that only open")
        ->option_text("FILE");
    app.add_flag("--json", options_.json, "Print JSON instead of sentences");
  }

  Result<Command> finish(const Environment& environment) override {
    if (options_.data_directory.empty()) {
      return fail(Errc::invalid, "--data needs the name of a directory.");
    }
    POSTRIDER_CHECK(api::parse_listen_address(options_.listen_address));
    options_.drain_timeout = std::chrono::seconds{drain_seconds_};
    if (std::optional<std::string> key = environment("POSTRIDER_ADMIN_KEY")) {
      if (!is_key(*key)) {
        return fail(
            Errc::invalid,
            "POSTRIDER_ADMIN_KEY must be 1 to 256 visible ASCII characters without spaces.");
      }
      options_.admin_key = Secret<std::string>{*std::move(key)};
    }
    if (std::optional<std::string> key = environment("POSTRIDER_SECRETS_KEY");
        key && !key->empty()) {
      if (!options_.secrets_key_file.empty()) {
        return fail(Errc::invalid,
                    "Give the secrets key with --secrets-key-file or with POSTRIDER_SECRETS_KEY, "
                    "not with both.");
      }
      options_.secrets_key = Secret<std::string>{*std::move(key)};
    }
    return Command{options_};
  }

 private:
  ServeOptions options_;
  std::uint32_t drain_seconds_ = 30;
};

}  // namespace

std::unique_ptr<Subcommand> add_serve(CLI::App& app) {
  return std::make_unique<ServeArguments>(
      *app.add_subcommand("serve", "Run the server until it is told to stop"));
}

}  // namespace postrider::cli
