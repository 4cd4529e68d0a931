#include <utility>

#include "cli/commands/connection_arguments.h"
#include "cli/commands/subcommand.h"

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
  explicit SendArguments(Syntax syntax) {
    syntax.footer(examples);
    connection_.add_to(syntax);
    syntax.option("--type TYPE", options_.type, "The event's type, such as order.paid").required();
    syntax
        .option("--data JSON", options_.data,
                "The event's data: JSON, @FILE, or - for standard input")
        .show_default();
    syntax.option("--tenant ID", options_.tenant_id, "Whose event it is");
    syntax.option("--resource ID", options_.resource_id, "What the event is about");
    syntax.option("--idempotency-key KEY", options_.idempotency_key,
                  "Publish at most once under this key");
    syntax.option("--source NAME", options_.source, "Where the event comes from");
    syntax.option("--ordering-key KEY", options_.ordering_key,
                  "Told to receivers; the order is the webhook's to keep");
    syntax.option("--priority PRIORITY", options_.priority, "high, normal or low")
        .one_of({"high", "normal", "low"});
    syntax.option("--timestamp TIME", options_.timestamp, "When it happened, as RFC 3339");
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
  explicit VersionArguments(Syntax syntax) { syntax.flag("--json", options_.json, "Print JSON"); }

  Result<Command> finish(const Environment&) override { return Command{options_}; }

 private:
  VersionOptions options_;
};

}  // namespace

std::unique_ptr<Subcommand> add_send(Syntax root) {
  return std::make_unique<SendArguments>(
      root.command("send", "Publish one event to a running server"));
}

std::unique_ptr<Subcommand> add_version(Syntax root) {
  return std::make_unique<VersionArguments>(root.command("version", "Print the version"));
}

}  // namespace postrider::cli
