#include <utility>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include "cli/connection_arguments.h"
#include "cli/subcommand.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider send --type order.paid --data '{"order": 17, "amount": "9.90"}'
  postrider send --type order.paid --data @order.json --tenant tnt_7 --idempotency-key order-17
  date +'{"at": "%FT%T"}' | postrider send --type clock.tick --data -

Environment:
  POSTRIDER_URL         the server, instead of --url
  POSTRIDER_KEY         the API key, instead of --key
  POSTRIDER_ADMIN_KEY   the same, when there is no POSTRIDER_KEY)";

class SendArguments final : public Subcommand {
 public:
  explicit SendArguments(CLI::App& app) {
    app.footer(examples);
    connection_.add_to(app);
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
    app.add_option("--ordering-key", options_.ordering_key,
                   "Told to receivers; the order is the webhook's to keep")
        ->option_text("KEY");
    app.add_option("--priority", options_.priority, "high, normal or low")
        ->option_text("PRIORITY")
        ->check(CLI::IsMember({"high", "normal", "low"}));
    app.add_option("--timestamp", options_.timestamp, "When it happened, as RFC 3339")
        ->option_text("TIME");
  }

  Result<Command> finish(const Environment& environment) override {
    POSTRIDER_TRY(options_.connection, connection_.finish(environment));
    return Command{options_};
  }

 private:
  SendOptions options_;
  ConnectionArguments connection_;
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
