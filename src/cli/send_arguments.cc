#include <utility>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include "cli/subcommand.h"

namespace postrider::cli {
namespace {

constexpr std::uint32_t timeout_seconds_max = 3600;
constexpr const char* default_server = "http://127.0.0.1:8080";

constexpr const char* examples = R"(Examples:
  postrider send --type order.paid --data '{"order": 17, "amount": "9.90"}'
  postrider send --type order.paid --data @order.json --tenant tnt_7 --idempotency-key order-17
  date +'{"at": "%FT%T"}' | postrider send --type clock.tick --data -

Environment:
  POSTRIDER_SERVER      the server, instead of --server
  POSTRIDER_KEY         the API key, instead of --key
  POSTRIDER_ADMIN_KEY   the same, when there is no POSTRIDER_KEY)";

class SendArguments final : public Subcommand {
 public:
  explicit SendArguments(CLI::App& app) {
    app.footer(examples);
    app.add_option("--server", server_, "The server to publish to")
        ->option_text("URL")
        ->default_str(default_server);
    app.add_option("--key", key_, "An API key that may publish")->option_text("KEY");
    app.add_option("--type", options_.type, "The event's type, such as order.paid")
        ->option_text("TYPE")
        ->required();
    app.add_option("--data", options_.data,
                   "The event's data: JSON, @FILE, or - for standard input")
        ->option_text("JSON")
        ->capture_default_str();
    app.add_option("--tenant", options_.tenant_id, "Whose event it is")->option_text("ID");
    app.add_option("--resource", options_.resource_id, "What the event is about")
        ->option_text("ID");
    app.add_option("--idempotency-key", options_.idempotency_key,
                   "Publish at most once under this key")
        ->option_text("KEY");
    app.add_option("--source", options_.source, "Where the event comes from")->option_text("NAME");
    app.add_option("--ordering-key", options_.ordering_key, "Events of one key keep their order")
        ->option_text("KEY");
    app.add_option("--priority", options_.priority, "high, normal or low")
        ->option_text("PRIORITY")
        ->check(CLI::IsMember({"high", "normal", "low"}));
    app.add_option("--timestamp", options_.timestamp, "When it happened, as RFC 3339")
        ->option_text("TIME");
    app.add_option("--timeout", timeout_seconds_, "How long to wait for the answer")
        ->option_text("SECONDS")
        ->check(CLI::Range(1u, timeout_seconds_max))
        ->capture_default_str();
    app.add_flag("--json", options_.json, "Print the server's answer as it is");
  }

  Result<Command> finish(const Environment& environment) override {
    const std::string server =
        server_ ? *server_ : environment("POSTRIDER_SERVER").value_or(default_server);
    // Our own server may well be on this machine or in this network: an operator typed its address.
    const UrlPolicy policy{.allow_http = true, .addresses = {.allow_private = true}};
    Result<TargetUrl> url = parse_target_url(server, policy);
    if (!url) {
      return fail(Errc::invalid, "The server: " + url.error().message);
    }
    options_.server = *std::move(url);

    std::optional<std::string> key = std::move(key_);
    if (!key) {
      key = environment("POSTRIDER_KEY");
    }
    if (!key) {
      key = environment("POSTRIDER_ADMIN_KEY");
    }
    options_.key = Secret<std::string>{key.value_or("")};
    options_.timeout = std::chrono::seconds{timeout_seconds_};
    return Command{options_};
  }

 private:
  SendOptions options_;
  std::optional<std::string> server_;
  std::optional<std::string> key_;
  std::uint32_t timeout_seconds_ = 30;
};

class VersionArguments final : public Subcommand {
 public:
  explicit VersionArguments(CLI::App& app) { app.add_flag("--json", options_.json, "Print JSON"); }

  Result<Command> finish(const Environment&) override { return Command{options_}; }

 private:
  VersionOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_send(CLI::App& app) {
  return std::make_unique<SendArguments>(
      *app.add_subcommand("send", "Publish one event to a running server"));
}

std::unique_ptr<Subcommand> add_version(CLI::App& app) {
  return std::make_unique<VersionArguments>(*app.add_subcommand("version", "Print the version"));
}

}  // namespace postrider::cli
