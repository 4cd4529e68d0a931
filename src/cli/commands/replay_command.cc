// `postrider replay`: sends past events to a webhook, including events it never received.
#include <memory>
#include <optional>

#include "cli/commands/group.h"
#include "cli/commands/operation.h"
#include "cli/text/time_argument.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider replay whk_01jx... --since 2h
  postrider replay whk_01jx... --since 2026-01-31T10:00:00Z --until 2026-01-31T12:00:00Z
  postrider replay whk_01jx... --since 7d --status dead_letter --event-type order.paid

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key)";

struct ReplayFlags {
  std::string webhook;
  std::string since;
  std::optional<std::string> until;
  std::vector<std::string> statuses, types;
  bool no_wait = false;
  bool no_outcome = false;
};

Result<json::value> body_of(const ReplayFlags& flags, WallTime now) {
  POSTRIDER_TRY(std::string since, time_argument("--since", flags.since, now));
  json::object body{{"since", std::move(since)}};
  if (flags.until) {
    POSTRIDER_TRY(const std::string until, time_argument("--until", *flags.until, now));
    body["until"] = until;
  }
  if (!flags.statuses.empty()) {
    body["status"] = json::array(flags.statuses.begin(), flags.statuses.end());
  }
  if (!flags.types.empty()) {
    body["event_types"] = json::array(flags.types.begin(), flags.types.end());
  }
  return json::value(std::move(body));
}

}  // namespace

std::unique_ptr<Subcommand> add_replay(Syntax root) {
  const auto flags = std::make_shared<ReplayFlags>();
  Syntax syntax = root.command("replay", "Send past events to a webhook again");
  syntax.footer(examples);
  syntax.argument("WEBHOOK", flags->webhook, "Id of the webhook");
  syntax
      .option("--since TIME", flags->since, "Events at or after this time; 2h means two hours ago")
      .required();
  syntax.option("--until TIME", flags->until, "Events before this time; a date includes that day");
  syntax.option("--status STATUS", flags->statuses,
                "Only events whose delivery has this status; may be repeated");
  syntax.option("--event-type TYPE", flags->types,
                "Only events of this type or pattern; may be repeated");
  syntax.flag("--no-wait", flags->no_wait, "Start the operation without waiting for its end");
  syntax.flag("--no-outcome", flags->no_outcome, no_outcome_help);
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(json::value body, body_of(*flags, session.now()));
    const std::string path = "/v1/webhooks/" + path_part(flags->webhook) + "/replay";
    return run_operation(session, {.method = "POST", .path = path, .body = std::move(body)},
                         {.label = "replay", .wait = wait_of(flags->no_wait, flags->no_outcome)});
  };
  return std::make_unique<ApiCommand>(syntax, run);
}

}  // namespace postrider::cli
