// The flags of `postrider send` and `postrider version`.
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
  POSTRIDER_SERVER      the server, instead of --server
  POSTRIDER_KEY         the API key, instead of --key
  POSTRIDER_ADMIN_KEY   the API key, if there is no POSTRIDER_KEY)";

class SendArguments final : public Subcommand {
 public:
  explicit SendArguments(Syntax syntax) {
    syntax.footer(examples);
    connection_.add_to(syntax);
    syntax.option("--type TYPE", options_.type, "Type of the event, such as order.paid").required();
    syntax
        .option("--data JSON", options_.data,
                "Data of the event: JSON, @FILE, or - for standard input")
        .show_default();
    syntax.option("--tenant ID", options_.tenant_id, "Tenant of the event");
    syntax.option("--resource ID", options_.resource_id, "Resource that the event is about");
    syntax.option("--idempotency-key KEY", options_.idempotency_key,
                  "Idempotency key: an event with the same key is published only once");
    syntax.option("--source NAME", options_.source, "Source of the event");
    syntax.option("--ordering-key KEY", options_.ordering_key,
                  "Ordering key, passed on to receivers; does not change the order of deliveries");
    syntax.option("--priority PRIORITY", options_.priority, "Priority: high, normal or low")
        .one_of({"high", "normal", "low"});
    syntax.option("--timestamp TIME", options_.timestamp, "Time of the event, as RFC 3339");
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
  return std::make_unique<SendArguments>(root.command("send", "Publish an event"));
}

std::unique_ptr<Subcommand> add_version(Syntax root) {
  return std::make_unique<VersionArguments>(root.command("version", "Print the version"));
}

}  // namespace postrider::cli
