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
constexpr std::uint32_t retention_days_max = 36'500;

constexpr const char* examples = R"(Examples:
  postrider serve
      Stores in ./postrider-data, listens on 127.0.0.1:8080, prints a first admin key.
  postrider serve --data /var/lib/postrider --listen 0.0.0.0:8080
  postrider serve --allow-private-targets --allow-http
      For development: webhooks may point at this machine, without TLS.

Environment:
  POSTRIDER_ADMIN_KEY   the admin key to accept, instead of a new one that is printed once)";

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
    add_retention(app);
    app.add_option("--log-level", options_.log_level, "Least important lines to log")
        ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
        ->option_text("LEVEL")
        ->capture_default_str();
    app.add_flag("--json", options_.json, "Print JSON instead of sentences");
  }

  Result<Command> finish(const Environment& environment) override {
    if (options_.data_directory.empty()) {
      return fail(Errc::invalid, "--data needs the name of a directory.");
    }
    POSTRIDER_CHECK(api::parse_listen_address(options_.listen_address));
    options_.drain_timeout = std::chrono::seconds{drain_seconds_};
    options_.retention_events = age_of(events_days_, events_ms_);
    options_.retention_dead_letters = age_of(dead_letters_days_, dead_letters_ms_);
    if (std::optional<std::string> key = environment("POSTRIDER_ADMIN_KEY")) {
      if (!is_key(*key)) {
        return fail(
            Errc::invalid,
            "POSTRIDER_ADMIN_KEY must be 1 to 256 visible ASCII characters without spaces.");
      }
      options_.admin_key = Secret<std::string>{*std::move(key)};
    }
    return Command{options_};
  }

 private:
  void add_retention(CLI::App& app) {
    app.add_option("--retention-events-days", events_days_,
                   "How long events, deliveries and attempts are kept; 0: for good")
        ->option_text("DAYS")
        ->check(CLI::Range(retention_days_max))
        ->capture_default_str();
    app.add_option("--retention-dead-letters-days", dead_letters_days_,
                   "How long dead letters are kept; 0: for good")
        ->option_text("DAYS")
        ->check(CLI::Range(retention_days_max))
        ->capture_default_str();
    app.add_option("--archive", options_.archive_directory,
                   "Where what is too old is archived before it is removed")
        ->option_text("DIR");
    app.add_flag("--shrinking-store", options_.shrinking_store,
                 "A store made by this start gives space back to the disk after retention, for "
                 "about 5 % of its speed; otherwise it keeps and reuses it");
    // For tests, which have no days to wait. An empty group keeps an option out of the help.
    app.add_option("--retention-events-ms", events_ms_)->group("");
    app.add_option("--retention-dead-letters-ms", dead_letters_ms_)->group("");
  }

  static std::chrono::milliseconds age_of(std::uint32_t days, std::uint32_t ms) {
    if (ms > 0) {
      return std::chrono::milliseconds{ms};
    }
    return std::chrono::hours{24} * days;
  }

  ServeOptions options_;
  std::uint32_t events_days_ = 90;
  std::uint32_t dead_letters_days_ = 30;
  std::uint32_t events_ms_ = 0;
  std::uint32_t dead_letters_ms_ = 0;
  std::uint32_t drain_seconds_ = 30;
};

}  // namespace

std::unique_ptr<Subcommand> add_serve(CLI::App& app) {
  return std::make_unique<ServeArguments>(
      *app.add_subcommand("serve", "Run the server until it is told to stop"));
}

}  // namespace postrider::cli
